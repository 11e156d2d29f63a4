// @build any
// The programs of examples/, copied out of the repository beside the package as packed and the C++ library as installed, and run
// with the commands of their README. Those that run models of files are in examples-models.test.js.
import assert from 'node:assert/strict';
import { cpSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { must } from '../../tools/run.js';
import { launch as launchChromium } from '../support/js/chromium.js';
import { root, text } from '../support/js/files.js';
import { launch as launchFirefox } from '../support/js/firefox.js';
import { inFullRun } from '../support/js/full.js';
import { PATIENCE, until } from '../support/js/patience.js';
import { firefox } from '../support/js/programs.js';
import { folder, serve } from '../support/js/server.js';
import { isas, replaced, Stranger } from './consumers/stranger.js';
import { argumentsOf, commands, installExamples, readme } from './examples.js';

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

/** The numbers of a line. */
const numbersIn = (line) => Array.from(line.matchAll(/-?\d+(\.\d+)?/g), ([number]) => +number);

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
  assert.deepEqual(await linesOf('train-node'), lines, 'a second run prints the same');
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

describe('examples: train-worker', () => {
  let server;
  before(async () => {
    // As the README tells those who have no checkout.
    const [, here, there] = /replace `([^`]+)` by\s`([^`]+)`/.exec(readme);
    const script = join('examples/train-worker', 'worker.js');
    const own = replaced(text(script), `'${here}'`, `'${there}'`);
    installed.write(script, own);
    const files = folder(installed.project);
    server = await serve((path) => files(path.replace(/\/$/, '/index.html')));
  });
  after(() => server?.close());

  /** What the page says when it was trained to the end, and how it looks; then that it stops, and learns again. */
  async function use(browser) {
    const context = await browser.newContext();
    const tab = await context.newPage();
    const complaints = [];
    tab.on('pageerror', (error) => complaints.push(error.message ?? String(error)));
    await tab.goto(`${server.url}/examples/train-worker/`);
    const said = () => tab.evaluate(() => document.getElementById('status').value);
    const ended = async (pattern) => {
      await until(async () => /;|failed/.test(await said()), said);
      assert.match(await said(), pattern);
      assert.deepEqual(
        await tab.evaluate(() =>
          ['start', 'stop'].map((id) => document.getElementById(id).disabled),
        ),
        [false, true],
      );
      return said();
    };
    // Part of the plot's columns that have ink in them, between what is written above and below.
    const inked = () =>
      tab.evaluate(async () => {
        await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
        const { width, height } = document.getElementById('plot');
        const context = document.getElementById('plot').getContext('2d');
        const { data } = context.getImageData(0, 0, width, height);
        const ink = (x) =>
          Array.from({ length: height }, (_, y) => data[4 * (y * width + x) + 3]).some(
            (a) => a > 0,
          );
        return Array.from({ length: width }, (_, x) => ink(x)).filter(Boolean).length / width;
      });
    assert.equal(await said(), 'not started');
    await tab.click('#start');
    const first = await ended(/^step \d{2,3}, (99|100) % of new rows right; learned$/);
    const drawn = await inked();
    assert.ok(drawn > 0.5, `${drawn} of the columns`);
    // Where the worker heard nothing while it trains, it would go on until the model has learned.
    await tab.evaluate(() =>
      ['start', 'stop'].forEach((id) => document.getElementById(id).click()),
    );
    await ended(/^step \d{1,2}, \d+ % of new rows right; stopped$/);
    await tab.click('#start');
    assert.equal(await ended(/learned$/), first, 'the same seed');
    assert.deepEqual(complaints, []);
    await context.close();
    return first;
  }

  for (const [name, launch, present] of [
    ['Chromium', launchChromium, true],
    ['Firefox', launchFirefox, firefox !== ''],
  ]) {
    test(`in ${name} it trains, draws, stops and trains again`, { skip: !present }, async (t) => {
      const browser = await launch();
      try {
        t.diagnostic(await use(browser));
      } finally {
        await browser.close();
      }
    });
  }
});

describe('examples: train-cpp', () => {
  const here = new Stranger();
  after(() => here.leave());
  const expected = (printed) => {
    const lines = printed.trimEnd().split('\n');
    assert.match(printed, /step 100: loss 0\.\d+, (99|100) % of new rows right/);
    const [row, said, ...heads] = lines.slice(-6).map((line) => numbersIn(line.slice(7)));
    assert.deepEqual(said, row.toReversed());
    const mirrored = Array.from({ length: 16 }, (_, t) => 15 - t);
    assert.ok(
      heads.some((places) => String(places) === String(mirrored)),
      printed,
    );
  };

  test('finds the library as installed, and learns reversal', async () => {
    const prefix = here.path('installed');
    await must('cmake', ['--install', join(root, 'build/native'), '--prefix', prefix], {
      timeout: PATIENCE.wait,
    });
    cpSync(join(root, 'examples'), here.path('examples'), { recursive: true });
    const env = { CMAKE_PREFIX_PATH: prefix, CXXFLAGS: '-Wall -Wextra -Werror' };
    const printed = await here.sh(commands.get('train-cpp'), { env });
    expected(printed);
  });

  inFullRun('the C++ example as a part of the checkout', () => {
    test('takes the checkout where none is installed', async () => {
      const elsewhere = commands.get('train-cpp').replaceAll('build/train-cpp', 'inside');
      const narrow = `-S qkv/examples/train-cpp ${JSON.stringify(isas('sse4;scalar'))}`;
      expected(await here.sh(replaced(elsewhere, '-S examples/train-cpp', narrow)));
    });
  });
});
