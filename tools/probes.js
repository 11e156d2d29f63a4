// Assembles wasm/probes/*.wat into wasm/src/load/probes.ts. Run it after changing a probe; a test compares
// the committed file with what this prints.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root } from './environment.js';

const probesFile = join(root, 'wasm/src/load/probes.ts');

function assemble(wat) {
  const folder = mkdtempSync(join(tmpdir(), 'qkv-probe-'));
  try {
    const out = join(folder, 'probe.wasm');
    const wasmAs = join(root, 'node_modules/binaryen/bin/wasm-as');
    execFileSync(process.execPath, [wasmAs, '-all', wat, '-o', out]);
    return readFileSync(out);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function generateProbes() {
  const lines = [
    '// Made by tools/probes.js from wasm/probes/*.wat; do not edit.',
    '//',
    '// Each is the smallest module with the opcodes that a variant needs beyond the others: what',
    '// WebAssembly.validate says of it is whether the engine can run that variant.',
    '',
  ];
  const folder = join(root, 'wasm/probes');
  for (const file of readdirSync(folder).sort()) {
    const bytes = [...assemble(join(folder, file))].map((b) => b.toString(16).padStart(2, '0'));
    const name = `${basename(file, '.wat')}Probe`;
    lines.push(`export const ${name} =`, `  '${bytes.join('')}';`, '');
  }
  return lines.join('\n').replace(/\n$/, '');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(probesFile, generateProbes() + '\n');
  console.log(`wrote ${probesFile}`);
}
