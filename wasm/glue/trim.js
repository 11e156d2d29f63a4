// node wasm/glue/trim.js <file>, run by the linker (--js-transform) on the glue before Emscripten removes what nothing
// uses: cuts what is dead because our loader always gives the memory and instantiates the module itself.
import { readFileSync, writeFileSync } from 'node:fs';

/** From a text up to another one, which stays, and what goes there instead. */
const cuts = [
  // Where files are, and how they are fetched.
  ['// Hooks that are implemented differently in different runtime', 'var out = console.log', ''],
  // A memory of its own.
  [
    "  if (Module['wasmMemory']) {",
    '  updateMemoryViews();\n\n// end include',
    "  wasmMemory = Module['wasmMemory'];\n",
  ],
  // The fetch of a .wasm.
  [
    "  if (Module['instantiateWasm']) {",
    '\n}\n',
    "  return Module['instantiateWasm'](info, receiveInstance);",
  ],
];

const [file] = process.argv.slice(2);
let text = readFileSync(file, 'utf8');
for (const [start, end, instead] of cuts) {
  const from = text.indexOf(start);
  const to = text.indexOf(end, from);
  if (from < 0 || to < 0)
    throw new Error(`${file} has no ${JSON.stringify(start)}: another Emscripten?`);
  text = text.slice(0, from) + instead + text.slice(to);
}
// Our workers enter the module by another way; builds without threads have no such line.
text = text.replace('if (ENVIRONMENT_IS_WASM_WORKER) return _wasmWorkerInitializeRuntime();', '');
writeFileSync(file, text);
