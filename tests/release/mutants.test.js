// The tool behind `npm run test:mutation`: how a source with planted faults reads, and which fault acts.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { lost, planted } from '../../tools/mutants/places.js';
import { root } from '../support/js/files.js';

/** The place of a text in a source, as bytes, and what the fault has there. */
function fault(number, file, source, text, replacement) {
  const start = Buffer.byteLength(source.slice(0, source.indexOf(text)));
  return { id: text, number, file, start, end: start + Buffer.byteLength(text), text, replacement };
}

test('mutants: an expression becomes a choice, and so does a statement', () => {
  const source = "const é = 'é' + 1;\nf(2);\n";
  const faults = [
    fault(1, 'a.ts', source, "'é' + 1", "'é' - 1"),
    fault(2, 'a.ts', source, 'f(2);', ''),
  ];
  assert.ok(
    planted(source, faults).endsWith(
      "})();\nconst é = (qkvPlanted(1) ? ('é' - 1) : ('é' + 1));\n" +
        'if (qkvPlanted(2)) {  } else { f(2); }\n',
    ),
  );
  const cpp = 'int f() { return a; }';
  assert.equal(
    planted(cpp, [fault(3, 'a.cpp', cpp, 'a', 'b')]),
    `#include "${join(root, 'tools/mutants/planted.hpp')}"\n` +
      'int f() { return (qkv_planted::acts(3) ? (b) : (a)); }',
  );
});

test('mutants: faults that share a place are refused', () => {
  const source = 'a + b * c';
  const faults = [fault(1, 'a.ts', source, 'b * c', 'b'), fault(2, 'a.ts', source, 'a + b', 'a')];
  assert.throws(() => planted(source, faults), /a \+ b meets b \* c/);
});

test('mutants: a fault without its place or its test is lost, and says why', () => {
  assert.equal(lost([{}], ['tests/release/mutants.test.js']), undefined);
  assert.equal(lost([]), 'has 0 places in the source, expected 1');
  assert.equal(lost([{}, {}]), 'has 2 places in the source, expected 1');
  assert.equal(
    lost([{}], ['tests/gone.test.js']),
    'names tests/gone.test.js, which does not exist',
  );
});

test('mutants: QKV_FAULT is the fault that acts, and QKV_REACHED has those that a test comes by', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'qkv-mutants-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const source = 'console.log(1, 2);\n';
  const faults = [
    fault(1, 'script.ts', source, '1', '10'),
    fault(2, 'script.ts', source, '2', '20'),
  ];
  const script = join(folder, 'script.mjs');
  writeFileSync(script, planted(source, faults));
  const reached = join(folder, 'reached');
  const run = (env) => spawnSync(process.execPath, [script], { encoding: 'utf8', env }).stdout;
  assert.equal(run({}), '1 2\n');
  assert.equal(run({ QKV_FAULT: '2', QKV_REACHED: reached }), '1 20\n');
  assert.equal(readFileSync(reached, 'utf8'), '1\n2\n');
});
