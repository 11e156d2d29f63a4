// node tests/core/run_wasm.js <qkv_tests_*.mjs> [--chromium] [Catch2 arguments]: runs the Catch2 suite that was
// built to WebAssembly, in this Node or in Chromium, on the instruction set that QKV_ISA names. CTest calls it.
import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { pathToFileURL } from 'node:url';

const [file, ...rest] = process.argv.slice(2);
const chromium = rest[0] === '--chromium';
const args = chromium ? rest.slice(1) : rest;
const isa = process.env.QKV_ISA ?? '';

/** The report that the arguments ask for: its path on the disk is its path in the module's own file system, too. */
const report = args.find((arg) => arg.startsWith('cases::out='))?.slice('cases::out='.length);

/** Runs the suite; in a page this function is all there is. Resolves to { code, cases }. */
async function runSuite({ url, isa, args, report, print }) {
  const { default: createModule } = await import(url);
  const preRun = (module) => {
    if (isa) module.ENV.QKV_ISA = isa;
    if (report) module.FS.mkdirTree(report.slice(0, report.lastIndexOf('/')));
  };
  const module = await createModule({ print, printErr: print, preRun: [preRun] });
  const code = module.callMain(args);
  return { code, cases: report ? module.FS.readFile(report, { encoding: 'utf8' }) : '' };
}

async function inNode() {
  // Node 20 has relaxed SIMD behind this flag; newer ones do without.
  if (isa.includes('relaxed') && parseInt(process.versions.node) < 21) {
    setFlagsFromString('--experimental-wasm-relaxed-simd');
  }
  const url = pathToFileURL(resolve(file)).href;
  return runSuite({ url, isa, args, report, print: console.log });
}

async function inChromium() {
  const { launch } = await import('../support/js/chromium.js');
  const { answer, folder, serve } = await import('../support/js/server.js');
  const files = folder(dirname(resolve(file)));
  const blank = answer('<!doctype html><title>qkv tests</title>', 'text/html');
  const server = await serve((path) => (path === '/' ? blank : files(path)));
  const browser = await launch();
  try {
    const page = await browser.newPage();
    page.on('console', (message) => console.log(message.text()));
    await page.goto(`${server.url}/`);
    await page.evaluate(`globalThis.runSuite = ${runSuite}`);
    const asked = { url: `/${basename(file)}`, isa, args, report };
    return await page.evaluate(
      (what) => globalThis.runSuite({ ...what, print: console.log }),
      asked,
    );
  } finally {
    await browser.close();
    await server.close();
  }
}

const { code, cases } = await (chromium ? inChromium() : inNode());
if (report) {
  mkdirSync(dirname(report), { recursive: true });
  writeFileSync(report, cases);
}
process.exitCode = code;
