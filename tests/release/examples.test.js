// @build any
// The programs of examples/ for Node, copied out of the repository beside the package as packed, and run with the commands of their
// README. Those that run models of files are in examples-models.test.js, pages in examples-pages.test.js, and C++ in examples-cpp.test.js.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { root } from '../support/js/files.js';
import { full, leaveToFullRun } from '../support/js/full.js';
import { argumentsOf, commands, installExamples, numbersIn } from './examples.js';

let installed;
before(async () => {
  installed = await installExamples();
});
after(() => installed?.remove());

/** What the command of a program for Node prints in the project: its lines. */
async function linesOf(name) {
  const { stdout, output } = await installed.inProject(process.execPath, ...argumentsOf(name));
  assert.equal(output, stdout);
  return stdout.trimEnd().split('\n');
}

test('examples: the README has every folder, and ships with none of them', () => {
  const folders = readdirSync(join(root, 'examples'), { withFileTypes: true });
  const names = folders.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  assert.deepEqual([...commands.keys()].sort(), names.sort());
  const shipped = installed.packed.files.map(({ path }) => path);
  assert.deepEqual(
    shipped.filter((path) => path.startsWith('examples')),
    [],
  );
});

test('examples: attention-node prints weights that are none of later tokens, and their entropy', async () => {
  const [, ...lines] = await linesOf('attention-node');
  const rows = lines.slice(0, 4).map(numbersIn);
  const [entropy, most] = lines.slice(4).map(numbersIn);
  assert.equal(lines.length, 6);
  for (const [t, row] of rows.entries()) {
    assert.ok(Math.abs(row.reduce((a, b) => a + b) - 1) < 3e-3, `row ${t} is ${row}`);
    assert.ok(row.every((weight, key) => (key > t ? weight === 0 : weight > 0)));
    const exact = -row.reduce((sum, w) => sum + (w > 0 ? w * Math.log(w) : 0), 0);
    assert.ok(Math.abs(entropy[t] - exact) < 6e-3 && entropy[t] <= most[t], `entropy of row ${t}`);
  }
});

test('examples: train-node learns to look back, and goes on with a row that is new to it', async () => {
  const lines = await linesOf('train-node');
  const steps = lines.filter((line) => line.startsWith('step')).map(numbersIn);
  assert.ok(steps[0][2] < 30 && steps.at(-1)[2] >= 95, `${steps[0]} to ${steps.at(-1)}`);
  assert.ok(steps.at(-1)[1] < steps[0][1] / 10);
  const [given, said] = lines.slice(-2).map(numbersIn);
  const row = [...given, ...said];
  assert.equal(given.length, 9);
  assert.equal(row.length, 24);
  assert.deepEqual(
    said,
    row.slice(9).map((_, t) => row[(9 + t) % 7]),
  );
  if (full) assert.deepEqual(await linesOf('train-node'), lines, 'a second run prints the same');
  else leaveToFullRun('a second run of train-node');
});

test('examples: seq2seq-node says words backwards, and its weights lie on the other diagonal', async () => {
  const lines = await linesOf('seq2seq-node');
  const [, word, said] = /^(\w+) backwards: (\w+)$/m.exec(lines.join('\n'));
  assert.equal(said, [...word].reverse().join(''));
  const rows = lines.slice(-word.length).map((line) => line.split(' | '));
  for (const [t, [letter, shown]] of rows.entries()) {
    assert.equal(letter, said[t]);
    const tenths = shown.split(' ').map((tenth) => (tenth === '.' ? 0 : +tenth));
    assert.equal(tenths.length, word.length);
    assert.equal(tenths.indexOf(Math.max(...tenths)), word.length - 1 - t, lines.join('\n'));
  }
});
