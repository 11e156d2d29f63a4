// @build any
// The elements of a model in pieces: with progress, without keeping them, and stopped in the middle.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { inTime } from '../../support/js/patience.js';
import { models } from './support/bundle.js';
import { collect } from './support/collect.js';
import { families } from './support/families.js';
import { safetensors, safetensorsOf } from './support/files.js';
import { serveFile } from './support/server.js';

const { Filler, openModel } = models;
const { tensors, config } = families.gpt2();
const bytes = safetensors(tensors);
const open = (weights, options) => openModel({ config, weights }, options);

const folder = mkdtempSync(join(tmpdir(), 'qkv-stream-'));
after(() => rmSync(folder, { recursive: true }));
const path = join(folder, 'model.safetensors');
writeFileSync(path, bytes);

describe('OpenedModel.stream', () => {
  test('progress rises to the end, by no more than a piece', async () => {
    const wide = families.gpt2();
    const opened = await openModel({ config: wide.config, weights: safetensors(wide.tensors) });
    const seen = [];
    await collect(opened, { onProgress: (progress) => seen.push(progress) });
    const total = Object.entries(wide.tensors)
      .filter(([name]) => !/\.attn\.bias$/.test(name))
      .reduce((sum, [, { values }]) => sum + 4 * values.length, 0);
    assert.equal(opened.totalBytes, total);
    assert.ok(seen.every((each) => each.total === total));
    seen.reduce((before, { loaded }) => {
      assert.ok(loaded > before && loaded <= before + 2 ** 20);
      return loaded;
    }, 0);
    assert.equal(seen.at(-1).loaded, total);
  });

  test('rows come in pieces of a megabyte at most, of in_out maps by 32', async () => {
    const [d, f] = [64, 6000];
    const model = families.gpt2();
    const big = { ...model.config, n_inner: f };
    const resized = Object.fromEntries(
      Object.entries(model.tensors).map(([name, tensor]) => {
        if (/c_fc\.weight/.test(name))
          return [name, { shape: [d, f], values: new Float32Array(d * f) }];
        if (/c_fc\.bias/.test(name)) return [name, { shape: [f], values: new Float32Array(f) }];
        if (/mlp\.c_proj\.weight/.test(name))
          return [name, { shape: [f, d], values: new Float32Array(f * d) }];
        return [name, tensor];
      }),
    );
    const opened = await openModel({ config: big, weights: safetensors(resized) });
    let most = 0;
    const counts = new Map();
    await opened.stream(({ parameter, bytes: rows, count }) => {
      most = Math.max(most, rows.length);
      counts.set(parameter.name, [...(counts.get(parameter.name) ?? []), count]);
    });
    assert.ok(most <= 2 ** 20 && most > 2 ** 19, `${most}`);
    assert.deepEqual(counts.get('layers.0.feedForward.w1'), [32, 32]);
    assert.deepEqual(counts.get('layers.0.feedForward.w2'), [4096, f - 4096]);
  });

  test('a file of 64 MB takes a few pieces of memory', async () => {
    const [d, vocabulary] = [1024, 2 ** 14];
    const shapes = {
      'wte.weight': [vocabulary, d],
      'wpe.weight': [8, d],
      'ln_f.weight': [d],
      'ln_f.bias': [d],
    };
    const own = {
      model_type: 'gpt2',
      vocab_size: vocabulary,
      n_embd: d,
      n_layer: 1,
      n_head: 8,
      n_positions: 8,
    };
    for (const [name, inputs, outputs] of [
      ['attn.c_attn', d, 3 * d],
      ['attn.c_proj', d, d],
      ['mlp.c_fc', d, d],
      ['mlp.c_proj', d, d],
    ]) {
      shapes[`h.0.${name}.weight`] = [inputs, outputs];
      shapes[`h.0.${name}.bias`] = [outputs];
    }
    for (const name of ['ln_1', 'ln_2'])
      for (const kind of ['weight', 'bias']) shapes[`h.0.${name}.${kind}`] = [d];
    let end = 0;
    const header = Object.fromEntries(
      Object.entries(shapes).map(([name, shape]) => {
        const begin = end;
        end += 4 * shape.reduce((n, extent) => n * extent, 1);
        return [name, { dtype: 'F32', shape, data_offsets: [begin, end] }];
      }),
    );
    const big = join(folder, 'big.safetensors');
    const head = safetensorsOf(header, new Uint8Array(0));
    writeFileSync(big, head);
    truncateSync(big, head.length + end);
    const opened = await openModel({
      config: { ...own, n_inner: d, activation_function: 'gelu', layer_norm_epsilon: 0 },
      weights: big,
    });
    const before = process.memoryUsage().arrayBuffers;
    let [most, sum] = [0, 0];
    await opened.stream(({ count, rowBytes, layout, parameter }) => {
      most = Math.max(most, process.memoryUsage().arrayBuffers);
      // Rows of a fused map are handed on for q, k and v.
      if (layout === 'out_in' || !/w[kv]$/.test(parameter.name)) sum += count * rowBytes;
    });
    assert.ok(end > 6.4e7 && sum === end, `${sum} of ${end}`);
    assert.ok(most - before < 6e6, `${most - before} bytes more`);
  });

  for (const ranges of [true, false]) {
    test(`stopped in the middle, ${ranges ? 'with' : 'without'} Range`, async (t) => {
      const stop = new AbortController();
      // Nothing comes any more: only the signal can end it.
      const gate = (sent) => {
        if (sent < bytes.length / 2) return undefined;
        stop.abort(new Error('enough'));
        return new Promise(() => {});
      };
      const { url } = await serveFile(t, bytes, { ranges, gate, piece: 1 << 12 });
      const opened = await open(url);
      await assert.rejects(inTime(collect(opened, { signal: stop.signal })), /enough/);
    });
  }

  test('stopped before the header has come', async (t) => {
    const stop = new AbortController();
    const { url } = await serveFile(t, bytes, {
      gate: () => {
        stop.abort();
        return new Promise(() => {});
      },
    });
    const rejected = inTime(open(url, { signal: stop.signal }));
    await assert.rejects(rejected, { name: 'AbortError' });
  });

  test('stopped before it begins, and while rows are taken', async () => {
    const reason = new Error('no more');
    for (const place of [bytes, new Blob([bytes]), path]) {
      await assert.rejects(open(place, { signal: AbortSignal.abort(reason) }), reason);
      const stop = new AbortController();
      const opened = await open(place);
      let calls = 0;
      const taken = opened.stream(
        () => {
          calls += 1;
          stop.abort(reason);
        },
        { signal: stop.signal },
      );
      await assert.rejects(taken, reason);
      assert.equal(calls, 1);
    }
  });

  test('what a caller throws is thrown on', async () => {
    const opened = await open(bytes);
    const mine = new Error('mine');
    await assert.rejects(
      opened.stream(() => {
        throw mine;
      }),
      mine,
    );
  });
});

describe('Filler', () => {
  /** A model in a memory of one block, which is as large as was asked for and no larger than the core would make it. */
  function oneBlock() {
    const at = 64;
    const memory = new ArrayBuffer(2 ** 21);
    const asked = [];
    const instance = {
      ...{ alive: true, handles: new Set(), destroy: () => undefined },
      room: (fn, address) => address,
      buffer: () => memory,
      raw: () => ({
        _createBuffer(floats) {
          asked.push(floats);
          // What is no whole number loses its fraction on the way in.
          new Uint8Array(memory)
            .fill(0)
            .fill(7, at + 64 * Math.ceil((4 * Math.trunc(floats)) / 64));
          return at;
        },
        _bufferData: () => at,
      }),
      run: () => undefined,
    };
    const state = { instance, arrays: new Map([['embedding', { index: 0 }]]), live: () => 8 };
    const isWhole = () => {
      const end = at + 64 * Math.ceil((4 * Math.trunc(asked.at(-1))) / 64);
      return new Uint8Array(memory, end).every((byte) => byte === 7);
    };
    return { state, asked, isWhole };
  }

  test('rows that are put together in its room are not copied, and others are', () => {
    const { state } = oneBlock();
    const seen = [];
    state.instance.run = (fn, operator, { data }) => seen.push(data);
    const filler = new Filler('load', state);
    const rows = { name: 'embedding', type: 'f32', count: 1, rowBytes: 16, layout: 'out_in' };
    const room = filler.room(64);
    room.set([1, 2, 3]);
    filler.put({ ...rows, bytes: room.subarray(16, 32) });
    assert.deepEqual(seen.pop(), { address: 64 + 16, shape: [16] });
    assert.deepEqual([...filler.room(64).subarray(0, 3)], [1, 2, 3]);
    filler.put({ ...rows, bytes: new Uint8Array(16).fill(9) });
    assert.deepEqual(seen.pop(), { address: 64, shape: [16] });
    assert.deepEqual([...filler.room(64).subarray(0, 3)], [9, 9, 9]);
    filler.dispose();
  });

  // The float16 of the scales are odd in number, and all bytes together two more than a multiple of 64.
  for (const [rows, columns] of [
    [30_849, 32],
    [211, 4960],
  ]) {
    test(`rows in int8 of [${rows},${columns}] stay within the block, with their scales`, () => {
      const { state, asked, isWhole } = oneBlock();
      const filler = new Filler('load', state);
      const scaleRowBytes = 2 * Math.ceil(columns / 32);
      filler.put({
        ...{ name: 'embedding', type: 'int8', layout: 'out_in', count: rows, rowBytes: columns },
        bytes: new Uint8Array(rows * columns).fill(1),
        ...{ scales: new Uint8Array(rows * scaleRowBytes).fill(1), scaleRowBytes },
      });
      assert.equal(asked.length, 1);
      assert.ok(isWhole(), `${asked} floats were asked for`);
      assert.ok(Number.isInteger(asked[0]), `${asked} floats were asked for`);
      filler.dispose();
    });
  }
});
