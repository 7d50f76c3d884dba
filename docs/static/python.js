// The worker in which Python runs, compiled to WebAssembly.
//
// {packages} starts it. Then {source, name} runs a cell: each piece that is printed is sent back as
// {text}, and at the end {output}, the fields of `Output` in running.py. {task, answers} tests the
// answers to a task, which takes a worker of its own, and sends {checked}.

import { loadPyodide } from "./pyodide/pyodide.mjs";

let python;
let folder;

async function unpack(name, place = folder) {
  const answer = await fetch(new URL(`python/${name}`, import.meta.url));
  if (!answer.ok) throw new Error(`${name}: ${answer.status}`);
  const content = await answer.arrayBuffer();
  if (name.endsWith(".zip")) python.unpackArchive(content, "zip", { extractDir: place });
  else python.FS.writeFile(`${place}/${name}`, new Uint8Array(content));
}

async function start(packages) {
  python = await loadPyodide();
  folder = python.runPython("import site; site.getsitepackages()[0]");
  const { numpy } = await (await fetch(new URL("python/files.json", import.meta.url))).json();
  if (numpy && packages.includes("tensor")) await python.loadPackage("numpy");
  await Promise.all(packages.map((name) => unpack(`${name}.zip`)));
}

async function prepareCells() {
  await Promise.all([unpack("running.py"), unpack("drawings.zip")]);
  python.runPython(`
    import dataclasses, importlib, json
    importlib.invalidate_caches()
    import running
    namespace = {"__name__": "__main__"}
    def run(source, name, listener):
        return json.dumps(dataclasses.asdict(running.run_cell(source, namespace, name, listener)))
  `);
}

function run({ source, name }) {
  if (!python.globals.has("run")) throw new Error("Python has not started");
  const listener = (text) => postMessage({ text });
  return JSON.parse(python.globals.get("run")(source, name, listener));
}

async function check({ task, answers }) {
  await Promise.all([
    unpack("checking.py"),
    unpack("testing.zip"),
    unpack(`task${task.name}.zip`, "/task"),
  ]);
  python.globals.set("given", JSON.stringify({ task, answers }));
  return JSON.parse(
    python.runPython(`
      import importlib, json
      from pathlib import Path
      importlib.invalidate_caches()
      import checking
      given = json.loads(given)
      checking.fill(Path("/task"), given["answers"])
      json.dumps(checking.check("/task", given["task"]["mark"], given["task"]["skip"]))
    `),
  );
}

onmessage = async ({ data }) => {
  try {
    if (data.packages) {
      await start(data.packages);
      if (!data.task) await prepareCells();
    }
    if (data.task) postMessage({ checked: await check(data) });
    else if (data.source) postMessage({ output: run(data) });
    else postMessage({ ready: true });
  } catch (error) {
    postMessage({ failed: String(error.message ?? error) });
  }
};
