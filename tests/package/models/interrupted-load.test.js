// @build any
// Loads that are ended in the middle, at every place: by a signal, by dispose(), by a file that breaks off, by another load.
// What was wrong is told by name, nothing is kept, and what comes later is right.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { init } from 'qkv';
import { load } from 'qkv/models';
import { expectQkvError, expectRejects, expectSame } from '../../support/js/check.js';
import { wasmFile } from '../../support/js/files.js';
import { full, leaveToFullRun } from '../../support/js/full.js';
import { inTime, until } from '../../support/js/patience.js';
import { abortedAtLook, watched } from './support/interrupt.js';
import { serveFile } from './support/server.js';
import { files } from './support/small-files.js';

const wasm = await WebAssembly.compile(wasmFile('simd'));
/** An engine that nobody shares. */
const alone = () => init({ wasm, shared: false });
const engine = await alone();
after(() => engine.dispose());
const reason = new Error('enough');

const logitsOf = (model, { tokens }) => model.forward(tokens).logits.data;
const rest = () => {
  const { usedBytes, handles } = engine.memory();
  return { usedBytes, handles };
};

/** The outcome of a load: rejected, with nothing kept. */
async function refusal(loading) {
  const before = rest();
  const error = await inTime(loading()).then(
    () => assert.fail('it was loaded'),
    (thrown) => thrown,
  );
  assert.deepEqual(rest(), before);
  return error;
}

/** How many reads the load of a file makes, and what the model says. */
async function undisturbed({ source, tokens }) {
  let reads = 0;
  const weights = watched(source.weights, () => (reads += 1));
  const model = await load(engine, { ...source, weights });
  const expected = logitsOf(model, { tokens });
  model.dispose();
  return { reads, expected };
}

const everyday = ['llama2.c', 'safetensors of a trainer in int8', 'GGUF in Q8_0'];
const names = full ? Object.keys(files) : everyday;
if (!full) leaveToFullRun('loads of other formats that are interrupted');

// All of them before the first test begins, which watches the memory.
const known = new Map();
for (const name of names) known.set(name, await undisturbed(files[name]));

for (const [name, { reads, expected }] of known) {
  const file = files[name];
  const { source } = file;

  describe(`${name}, interrupted`, () => {
    const withWeights = (weights) => ({ ...source, weights });

    /** Loads with `onRead` called at read number n alone. */
    const loadAt = (n, onRead, options, of = engine) =>
      load(of, withWeights(watched(source.weights, (at) => at === n && onRead())), options);

    /** It can still be loaded, and says what it should. */
    async function goesOn(of = engine) {
      const model = await load(of, source);
      expectSame(logitsOf(model, file), expected, 'logit');
      model.dispose();
    }

    test(`load: ${name}: a signal at any read, told with its reason`, async () => {
      assert.ok(reads >= 5, `${reads} reads`);
      for (let n = 0; n < reads; ++n) {
        const stop = new AbortController();
        const { signal } = stop;
        const error = await refusal(() => loadAt(n, () => stop.abort(reason), { signal }));
        assert.equal(error, reason, `read ${n}`);
      }
      await goesOn();
    });

    test(`load: ${name}: a signal at any look at it`, async () => {
      const counted = abortedAtLook(Infinity);
      const model = await load(engine, source, { signal: counted.signal });
      model.dispose();
      assert.ok(counted.looks() > reads, `${counted.looks()} looks`);
      // The first is the check of what it is.
      for (let n = 1; n < counted.looks(); ++n) {
        const { signal } = abortedAtLook(n, reason);
        assert.equal(await refusal(() => load(engine, source, { signal })), reason, `look ${n}`);
      }
      await goesOn();
    });

    test(`load: ${name}: what the file throws at any read`, async () => {
      for (let n = 0; n < reads; ++n) {
        const broken = () => Promise.reject(new Error('the disk is gone'));
        const error = await refusal(() => loadAt(n, broken));
        expectQkvError(error, 'load', 'load_failed', 'the disk is gone');
      }
      await goesOn();
    });

    test(`load: ${name}: an engine that is disposed at any read`, async () => {
      for (let n = 0; n < reads; ++n) {
        const lent = await alone();
        const loading = loadAt(n, () => lent.dispose(), {}, lent);
        await expectRejects(inTime(loading), 'load', 'disposed', 'the engine is disposed');
      }
      await goesOn();
    });

    test(`load: ${name}: another load within any read, whole or given up`, async () => {
      const before = rest();
      for (let n = 0; n < reads; ++n) {
        const stop = new AbortController();
        const { signal } = stop;
        const within = async () => {
          await goesOn();
          await refusal(() => loadAt(n, () => stop.abort(reason), { signal }));
        };
        const model = await loadAt(n, within);
        expectSame(logitsOf(model, file), expected, 'logit');
        model.dispose();
      }
      assert.deepEqual(rest(), before);
    });
  });
}

describe('loads side by side', () => {
  test('load: every format at once, of which every second is given up', async () => {
    const before = rest();
    const all = Object.values(files);
    const right = [];
    for (const file of all) right.push((await undisturbed(file)).expected);
    const stop = new AbortController();
    const { signal } = stop;
    let waiting = 0;
    /** All that are given up have begun when they are. */
    const begun = () => {
      waiting += 1;
      if (waiting === all.length) stop.abort(reason);
      return until(() => signal.aborted);
    };
    const started = all.flatMap(({ source }) => [
      load(engine, source),
      load(
        engine,
        { ...source, weights: watched(source.weights, (n) => n === 3 && begun()) },
        { signal },
      ),
    ]);
    const outcomes = await inTime(Promise.allSettled(started));
    for (const [i, file] of all.entries()) {
      const [kept, given] = outcomes.slice(2 * i, 2 * i + 2);
      assert.deepEqual([given.status, given.reason], ['rejected', reason]);
      expectSame(logitsOf(kept.value, file), right[i], 'logit');
      kept.value.dispose();
    }
    assert.deepEqual(rest(), before);
  });
});

describe('files of a server', () => {
  const { source, tokens } = files['GGUF in Q8_0'];

  test('load: a signal, or the end of the engine, at any piece that the server sends', async (t) => {
    const bytes = new Uint8Array(await source.weights.arrayBuffer());
    const piece = Math.ceil(bytes.length / 12);
    const { expected } = await undisturbed({ source, tokens });
    for (let n = 0; n < 12; ++n) {
      for (const isDisposed of [false, true]) {
        const stop = new AbortController();
        const { signal } = stop;
        const lent = isDisposed ? await alone() : engine;
        const gate = async (sent) => {
          if (sent !== n * piece) return;
          if (isDisposed) lent.dispose();
          else stop.abort(reason);
        };
        const server = await serveFile(t, bytes, { piece, gate });
        const loading = () => load(lent, { weights: server.url }, { signal });
        if (isDisposed) await expectRejects(inTime(loading()), 'load', 'disposed');
        else assert.equal(await refusal(loading), reason);
      }
    }
    const server = await serveFile(t, bytes, { piece });
    const model = await load(engine, { weights: server.url });
    expectSame(logitsOf(model, { tokens }), expected, 'logit');
    model.dispose();
  });
});

const opened = '/proc/self/fd';
/** Files of a folder that this process has open. */
const openIn = (folder) =>
  readdirSync(opened).flatMap((name) => {
    try {
      return [readlinkSync(join(opened, name))].filter((path) => path.startsWith(folder));
    } catch {
      return []; // closed meanwhile
    }
  });

describe('files of a disk', { skip: !existsSync(opened) && 'no list of open files' }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'qkv-interrupted-'));
  after(() => rmSync(folder, { recursive: true, force: true }));

  test('load: a file is closed, wherever its load ended', async () => {
    const { source } = files['safetensors in bf16'];
    const bytes = new Uint8Array(await source.weights.arrayBuffer());
    const [path, broken] = ['whole', 'broken'].map((name) => join(folder, name));
    writeFileSync(path, bytes);
    writeFileSync(broken, bytes.subarray(0, bytes.length - 100));
    const counted = abortedAtLook(Infinity);
    (await load(engine, { ...source, weights: path }, { signal: counted.signal })).dispose();
    for (let n = 1; n < counted.looks(); ++n) {
      const { signal } = abortedAtLook(n, reason);
      const loading = () => load(engine, { ...source, weights: path }, { signal });
      assert.equal(await refusal(loading), reason);
    }
    for (const weights of [broken, folder]) {
      const error = await refusal(() => load(engine, { ...source, weights }));
      assert.ok(['invalid_argument', 'load_failed'].includes(error.code), error.message);
    }
    await until(
      () => openIn(folder).length === 0,
      () => `${openIn(folder)} are open`,
    );
  });
});
