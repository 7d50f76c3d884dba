// Strokes are stored on the canvas, because this function runs again after each update.
export default function ({ parentElement, setStateValue }) {
  const canvas = parentElement.querySelector('canvas');
  const side = canvas.width = canvas.height = 480;
  const strokes = canvas.strokes ??= [];
  const send = () => setStateValue('strokes', strokes.slice());
  const draw = () => {
    const pen = canvas.getContext('2d');
    pen.clearRect(0, 0, side, side);
    pen.strokeStyle = getComputedStyle(canvas).color;
    pen.lineWidth = side / 11;
    pen.lineCap = pen.lineJoin = 'round';
    for (const stroke of strokes) {
      pen.beginPath();
      for (const [x, y] of [stroke[0], ...stroke]) pen.lineTo(x * side, y * side);
      pen.stroke();
    }
  };
  const place = event => {
    const box = canvas.getBoundingClientRect();
    return [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
  };
  canvas.onpointerdown = event => {
    canvas.setPointerCapture(event.pointerId);
    canvas.stroke = [place(event)];
    strokes.push(canvas.stroke);
    draw();
  };
  canvas.onpointermove = event => {
    if (!canvas.stroke) return;
    canvas.stroke.push(place(event));
    draw();
  };
  canvas.onpointerup = canvas.onpointercancel = () => {
    if (!canvas.stroke) return;
    canvas.stroke = null;
    send();
  };
  parentElement.querySelector('button').onclick = () => {
    strokes.length = 0;
    draw();
    send();
  };
  draw();
}
