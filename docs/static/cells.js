// Cells that the reader can change and run. Without this script a page shows the results that its
// cells had when the site was built.
//
// Python starts in a worker when the first cell is run. The cells of a page share their names, so
// that a cell is run after those above it, unless these have run already.

const base = new URL(".", import.meta.url);
const packages = document.querySelector('meta[name="cells"]').content.split(" ").filter(Boolean);

class Python {
  #worker;
  #listener;

  get started() {
    return Boolean(this.#worker);
  }

  send(message, onText = () => {}) {
    this.#worker ??= new Worker(new URL("python.js", base), { type: "module" });
    return new Promise((resolve, reject) => {
      this.#listener = reject;
      this.#worker.onerror = (event) => reject(new Error(event.message || "Python did not start"));
      this.#worker.onmessage = ({ data }) => {
        if ("text" in data) onText(data.text);
        else if ("failed" in data) reject(new Error(data.failed));
        else resolve(data.output ?? data.checked);
      };
      this.#worker.postMessage(message);
    });
  }

  stop() {
    this.#worker?.terminate();
    this.#worker = undefined;
    this.#listener?.(new Error("stopped"));
  }
}

const python = new Python();
const cells = [];
let running = false;

function button(label, title, onclick) {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = label;
  made.title = title;
  made.onclick = onclick;
  return made;
}

function status() {
  const made = document.createElement("span");
  made.className = "cell-state";
  made.setAttribute("role", "status");
  return made;
}

function toolbar(...parts) {
  const made = document.createElement("div");
  made.className = "cell-bar";
  made.append(...parts);
  return made;
}

let editing; // the modules of the editor

/** Put an editor in the place of a listing; Shift+Enter and Control+Enter call `submit`. */
function replaceByEditor(listing, value, label, submit) {
  const place = document.createElement("div");
  place.className = "cell-editor";
  listing.replaceWith(place);
  const options = { language: "python", value, tabSize: 4, insertSpaces: true, lineNumbers: false };
  const editor = editing.createEditor(place, options, editing.defaultCommands());
  const area = editor.textarea;
  area.setAttribute("aria-label", label);
  area.spellcheck = false;
  const onKey = (event) => {
    if (event.key !== "Enter" || !(event.shiftKey || event.ctrlKey)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    submit();
  };
  area.addEventListener("keydown", onKey, true);
  return editor;
}

class Cell {
  constructor(source, element, number) {
    this.original = source;
    this.element = element;
    this.name = `cell ${number}`;
    this.done = false;
  }

  get source() {
    return this.editor ? this.editor.value : this.original;
  }

  /** Replace the listing by an editor, and add the buttons. */
  enliven() {
    this.output = this.element.querySelector(".cell-output");
    const listing = this.element.querySelector("[class^=highlight-]");
    this.editor = replaceByEditor(listing, this.original, `Code of ${this.name}`, () => runUpTo(this));
    const place = this.editor.container.parentElement;
    this.editor.on("update", () => this.#changed());
    this.play = button("Run", "Run this cell (Shift+Enter)", () => running ? python.stop() : runUpTo(this));
    this.back = button("Reset", "Restore the code of the page", () => {
      this.editor.setOptions({ value: this.original });
      this.#changed();
    });
    this.back.hidden = true;
    this.state = status();
    place.after(toolbar(this.play, this.back, this.state));
  }

  #changed() {
    this.back.hidden = this.source === this.original;
    if (this.source !== this.ran) this.done = false;
  }

  say(text) {
    if (this.state) this.state.textContent = text;
  }

  async run() {
    this.say(python.started ? "running" : "starting Python");
    if (!python.started) await python.send({ packages });
    this.say("running");
    const source = this.source;
    const text = document.createElement("pre");
    this.output?.replaceChildren(text);
    const output = await python.send({ source, name: this.name }, (piece) => {
      text.textContent += piece;
    });
    this.ran = source;
    this.done = !output.error;
    this.error = output.error;
    if (this.output) this.#show(output, text);
    this.say("");
    return !output.error;
  }

  #show(output, text) {
    text.tabIndex = 0;
    text.textContent = text.textContent.trimEnd();
    if (!output.printed) text.remove();
    this.output.insertAdjacentHTML("beforeend", output.html);
    if (output.trace) {
      const trace = document.createElement("pre");
      trace.className = "cell-error";
      trace.textContent = output.trace;
      this.output.append(trace);
    }
    enlivenSteps(this.output);
  }
}

async function runUpTo(cell) {
  if (running) return;
  running = true;
  const above = cells.slice(0, cells.indexOf(cell)).filter((other) => !other.done);
  cell.play.textContent = "Stop";
  try {
    for (const other of [...above, cell]) {
      cell.say(other === cell ? "running" : "running the cells above");
      const fine = await other.run();
      if (!fine && other !== cell && !other.fails) {
        cell.say(`${other.name} above fails: ${other.error}`);
        break;
      }
    }
    for (const other of cells.slice(cells.indexOf(cell) + 1)) other.done = false;
  } catch (error) {
    for (const other of cells) other.done = false;
    python.stop();
    for (const other of cells) other.say("");
    cell.say(error.message);
  } finally {
    running = false;
    cell.play.textContent = "Run";
  }
}

/** Pictures that are the steps of one process, to be looked at one after the other. */
function enlivenSteps(root) {
  for (const steps of root.querySelectorAll(".steps:not(.live)")) {
    const pictures = [...steps.children];
    let at = 0;
    const place = document.createElement("span");
    place.setAttribute("role", "status");
    const show = (which) => {
      at = Math.max(0, Math.min(pictures.length - 1, which));
      pictures.forEach((picture, i) => { picture.hidden = i !== at; });
      place.textContent = `${at + 1} of ${pictures.length}`;
      before.disabled = at === 0;
      after.disabled = at === pictures.length - 1;
    };
    const before = button("Back", "The step before", () => show(at - 1));
    const after = button("Next", "The next step", () => show(at + 1));
    steps.prepend(toolbar(before, after, place));
    steps.classList.add("live");
    show(0);
  }
}

/** A task: an editor for each function, and a button that runs its tests. */
class Task {
  constructor(element) {
    this.element = element;
    this.task = JSON.parse(element.dataset.task);
    this.functions = [...element.querySelectorAll(".task-function")].map((place) => {
      const { file, hole } = place.dataset;
      const original = place.querySelector("pre").textContent.replace(/\n$/, "");
      const key = `${location.pathname} ${file} ${original.split("(")[0]}`;
      const value = localStorage.getItem(key) ?? original;
      const label = `Your code in ${file}`;
      const listing = place.querySelector(".highlight");
      const editor = replaceByEditor(listing, value, label, () => this.check());
      editor.on("update", () => {
        if (editor.value === original) localStorage.removeItem(key);
        else localStorage.setItem(key, editor.value);
      });
      return { file, hole, original, editor };
    });
    this.button = button("Check", "Run the tests of this task", () => this.check());
    this.back = button("Start again", "Remove what you have written", () => {
      for (const each of this.functions) each.editor.setOptions({ value: each.original });
    });
    this.state = status();
    this.output = document.createElement("div");
    this.output.className = "cell-output";
    const parts = this.functions.length ? [this.button, this.back] : [this.button];
    element.append(toolbar(...parts, this.state), this.output);
  }

  async check() {
    if (this.python) return this.python.stop();
    this.python = new Python(); // code that is imported once cannot be imported again
    this.button.textContent = "Stop";
    this.state.textContent = "running the tests";
    this.output.replaceChildren();
    const below = packages.filter((name) => name !== this.task.stage);
    const answers = this.functions.map(({ file, hole, editor }) => [file, hole, editor.value]);
    try {
      const [passed, text] = await this.python.send({ packages: below, task: this.task, answers });
      this.#show(passed, text);
      this.state.textContent = "";
    } catch (error) {
      this.state.textContent = error.message;
    } finally {
      this.python.stop();
      this.python = undefined;
      this.button.textContent = "Check";
    }
  }

  #show(passed, text) {
    const line = document.createElement("p");
    line.className = passed ? "task-passed" : "task-failed";
    line.textContent = passed ? "Done: all tests pass." : "Not yet.";
    const report = document.createElement("pre");
    report.textContent = text.trim();
    this.output.append(line, report);
  }
}

async function enliven() {
  enlivenSteps(document);
  if (!packages.length || !location.protocol.startsWith("http")) return;
  const modules = await Promise.all([
    import("./editor/index.js"),
    import("./editor/extensions/commands/index.js"),
    import("./editor/languages/python.js"),
    import("./editor/prism/languages/python.js"),
  ]);
  editing = Object.assign({}, ...modules);
  let number = 0;
  for (const element of document.querySelectorAll(".cell:not(.static), .cell-setup")) {
    number += 1;
    const source = element.matches(".cell-setup")
      ? element.dataset.source
      : element.querySelector("pre").textContent.replace(/\n$/, "");
    const cell = new Cell(source, element, number);
    cell.fails = Boolean(element.querySelector(".cell-error"));
    cells.push(cell);
    if (element.matches(".cell")) cell.enliven();
  }
  for (const element of document.querySelectorAll(".task-functions")) new Task(element);
  document.documentElement.classList.add("cells-live");
}

enliven();
