// @build each
// Loading: from where, in which format, how far it is, what it costs in memory, and what is left when it fails.
import assert from 'node:assert/strict';
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import { pathToFileURL } from 'node:url';
import { after, describe, test } from 'node:test';
import { init } from 'qkv';
import { create, load } from 'qkv/models';
import { expectRejects, expectSame } from '../../support/js/check.js';
import { checkpoint, checkpointConfig, checkpointParts } from '../../support/js/checkpoints.js';
import { initAsTold } from '../../support/js/files.js';
import { rowsOf } from '../../support/js/model-kinds.js';
import { randomWeights } from '../../support/js/model-oracle.js';
import { resultOf } from '../../support/js/node.js';
import { serve } from '../../support/js/server.js';

const engine = await initAsTold(init);
after(() => engine.dispose());

const config = checkpointConfig({
  ...{ vocabulary: 40, numLayers: 3, dModel: 32, numHeads: 4, numKvHeads: 2 },
  ...{ dFeedForward: 48, maxLength: 16 },
});
const weights = randomWeights(config, 3);
const file = checkpoint(config, weights);
const bytes = await file.arrayBuffer();
const ids = rowsOf(config, 16);
const expected = (() => {
  const model = create(engine, config, weights);
  const { logits } = model.forward(ids);
  model.dispose();
  return logits.data;
})();

const folder = mkdtempSync(join(tmpdir(), 'qkv-models-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** A checkpoint on disk. */
async function written(name, of, from) {
  const path = join(folder, name);
  const stream = createWriteStream(path);
  for (const { buffer, byteOffset, byteLength } of checkpointParts(of, from)) {
    if (!stream.write(new Uint8Array(buffer, byteOffset, byteLength))) await once(stream, 'drain');
  }
  stream.end();
  await once(stream, 'finish');
  return path;
}

describe('where a file is', () => {
  const sameLogits = async (given) => {
    const told = [];
    const model = await load(engine, { weights: given }, { onProgress: (now) => told.push(now) });
    expectSame(model.forward(ids).logits.data, expected, 'logit');
    const { dModel, numKvHeads, dFeedForward, family, vocabulary } = model.config;
    assert.deepEqual([dModel, numKvHeads, dFeedForward, vocabulary], [32, 2, 48, 40]);
    assert.equal(family, 'llama');
    const total = bytes.byteLength - 28 - 4 * 16 * 8;
    const { rate, file: read, ...last } = told.at(-1);
    assert.deepEqual(last, { loaded: total, total });
    assert.ok(rate > 0 && read.length > 0, `${rate} ${read}`);
    told.forEach((now, i) =>
      assert.ok(now.total === total && now.loaded > (told[i - 1]?.loaded ?? 0)),
    );
    model.dispose();
  };

  test('load: an ArrayBuffer, and a Blob', async () => {
    await sameLogits(bytes);
    await sameLogits(file);
  });

  test('load: a path of Node, and a file: URL', async () => {
    const path = await written('small.bin', config, weights);
    await sameLogits(path);
    await sameLogits(pathToFileURL(path));
  });

  test('load: an address of a server', async () => {
    const server = await serve(() => ({
      body: Buffer.from(bytes),
      headers: { 'content-type': 'application/octet-stream' },
    }));
    try {
      await sameLogits(`${server.url}/model.bin`);
    } finally {
      await server.close();
    }
  });
});

describe('what becomes of it', () => {
  test('load: formats and a shorter maxLength', async () => {
    for (const format of ['f32', 'bf16', 'int8']) {
      const made = create(engine, config, weights, { format });
      const model = await load(engine, { weights: file }, { format, maxLength: 16 });
      assert.equal(model.format, format);
      assert.equal(model.bytes, made.bytes);
      expectSame(model.forward(ids).logits.data, made.forward(ids).logits.data, 'logit');
      for (const one of [model, made]) one.dispose();
    }
    const short = await load(engine, { weights: file }, { maxLength: 5 });
    assert.equal(short.config.maxLength, 5);
    assert.equal(short.session().capacity, 5);
    expectSame(short.forward(ids.slice(0, 5)).logits.data, expected.slice(0, 5 * 40), 'logit');
    short.dispose();
  });

  test('load: a model that is loaded is given back with its memory', async () => {
    const before = engine.memory();
    const model = await load(engine, { weights: file });
    const during = engine.memory();
    assert.ok(during.usedBytes >= before.usedBytes + model.bytes);
    assert.equal(during.handles, before.handles + 1);
    model.dispose();
    model.dispose();
    assert.deepEqual(engine.memory().handles, before.handles);
    assert.equal(engine.memory().usedBytes, before.usedBytes);
  });
});

describe('what goes wrong', () => {
  /** Nothing is kept. */
  async function leavesNothing(work) {
    const before = engine.memory();
    await work();
    const { usedBytes, handles } = engine.memory();
    assert.deepEqual([usedBytes, handles], [before.usedBytes, before.handles]);
  }

  test('load: an abort, before and meanwhile, is told with its reason and leaves nothing', async () => {
    const reason = new Error('enough');
    const late = new AbortController();
    late.abort(reason);
    await leavesNothing(() =>
      assert.rejects(load(engine, { weights: file }, { signal: late.signal }), (e) => e === reason),
    );
    const stop = new AbortController();
    let calls = 0;
    const onProgress = () => {
      calls += 1;
      if (calls === 3) stop.abort(reason);
    };
    await leavesNothing(() =>
      assert.rejects(
        load(engine, { weights: file }, { signal: stop.signal, onProgress }),
        (error) => error === reason,
      ),
    );
    assert.equal(calls, 3);
  });

  test('load: what onProgress throws ends it and leaves nothing', async () => {
    const error = new Error('of the caller');
    const onProgress = () => {
      throw error;
    };
    await leavesNothing(() =>
      assert.rejects(load(engine, { weights: file }, { onProgress }), (e) => e === error),
    );
  });

  test('load: a file that ends early leaves nothing', async () => {
    const part = file.slice(0, file.size - 4000);
    await leavesNothing(() =>
      expectRejects(load(engine, { weights: part }), 'load', 'invalid_argument', 'bytes'),
    );
  });

  test('load: an engine that is disposed meanwhile ends it by name', async () => {
    const lent = await init({ shared: false });
    const loading = load(lent, { weights: file }, { onProgress: () => lent.dispose() });
    await assert.rejects(loading, ({ code, message }) => {
      assert.equal(code, 'disposed');
      assert.match(message, /^load: .*the engine is disposed, expected a live one/);
      return true;
    });
  });

  /** Numbers of an embedding [v, d], and of all other maps in the three layers of a checkpoint. */
  const mapsOf = (v, d) => v * d + 3 * (2 * d * d + d * d + 3 * 48 * d);

  /** A checkpoint as long as it says, and empty. */
  async function hollow(v, d) {
    const header = Int32Array.of(d, 48, 3, 4, 2, v, 16);
    const path = join(folder, `hollow-${v}-${d}.bin`);
    const { open } = await import('node:fs/promises');
    const handle = await open(path, 'w');
    await handle.write(new Uint8Array(header.buffer));
    await handle.truncate(28 + 4 * (mapsOf(v, d) + 3 * 2 * d + d + 16 * (d / 4)));
    await handle.close();
    return path;
  }

  test('load: a model that there is no memory for in any format', async () => {
    const path = await hollow(2 ** 16, 2 ** 15);
    const says = ['bytes could not be allocated', 'they fit in no format'];
    await leavesNothing(() =>
      expectRejects(load(engine, { weights: path }), 'load', 'out_of_memory', ...says),
    );
  });

  test('load: a model that does not fit as float32 is told the formats in which it does', async () => {
    const [v, d] = [2 ** 17, 2 ** 13];
    const path = await hollow(v, d);
    const gains = 3 * 2 * d + d;
    const bytesAs = (ofNumber) => mapsOf(v, d) * ofNumber + 4 * gains;
    const says = [
      `${bytesAs(4)} bytes could not be allocated for the weights, which take ${bytesAs(4)} as 'f32'`,
      `expected format 'bf16' (${bytesAs(2)} bytes) or 'int8' (${bytesAs(34 / 32)} bytes)`,
    ];
    await leavesNothing(() =>
      expectRejects(load(engine, { weights: path }), 'load', 'out_of_memory', ...says),
    );
    // Beside tensors of more than half of the memory bfloat16 does not fit either.
    const { fill } = Float32Array.prototype;
    Float32Array.prototype.fill = () => undefined; // no page of it is touched
    const ballast = [1, 2].map(() => engine.tensor([2 ** 28]));
    Float32Array.prototype.fill = fill;
    const int8 = `expected format 'int8' (${bytesAs(34 / 32)} bytes)`;
    for (const format of ['f32', 'bf16']) {
      const loading = load(engine, { weights: path }, { format });
      await expectRejects(loading, 'load', 'out_of_memory', `as '${format}'`, int8);
    }
    for (const tensor of ballast) tensor.dispose();
  });
});

/** What the process may take besides: the first pieces of the file, and what the collector leaves for later. */
const besides = 12e6;

test('memory: loading 40 MB takes at most 1.15 times as much, in WebAssembly and JavaScript', async (t) => {
  const large = checkpointConfig({
    ...{ vocabulary: 8000, numLayers: 4, dModel: 384, numHeads: 6, dFeedForward: 1024 },
    maxLength: 256,
  });
  const path = await written('large.bin', large, randomWeights(large, 9));
  const small = await written('first.bin', config, weights);
  for (const format of ['f32', 'int8']) {
    const {
      before,
      peak,
      bytes: own,
    } = await resultOf(
      [],
      `const { init } = await import('qkv');
      const { load } = await import('qkv/models');
      const engine = await init();
      const [first, weights] = ${JSON.stringify([small, path])};
      // What is needed once, however large the model is: code, and buffers for pieces.
      (await load(engine, { weights: first })).dispose();
      let peak = 0;
      const look = () => (peak = Math.max(peak, process.memoryUsage.rss()));
      look();
      const before = peak;
      const model = await load(engine, { weights }, { format: '${format}', onProgress: look });
      look();
      console.log(JSON.stringify({ before, peak, bytes: model.bytes }));`,
    );
    const taken = peak - before;
    t.diagnostic(
      `${format}: ${(taken / 1e6).toFixed(1)} MB for ${(own / 1e6).toFixed(1)} MB of weights`,
    );
    assert.ok(taken <= 1.15 * own + besides, `${taken} for ${own}`);
  }
});
