// @build any
// Files of strangers: whatever is in them, reading them ends in a typed error, or in arrays that have every element once.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { QkvError } from 'qkv';
import { models } from '../models/support/bundle.js';
import { collect } from '../models/support/collect.js';
import { families } from '../models/support/families.js';
import { gguf, ggufFile, llama2cTokens, safetensors } from '../models/support/files.js';
import { ggufModels } from '../models/support/gguf-models.js';
import { ownMetadata, ownModel } from '../models/support/own.js';
import { about, settings, watchdog } from './support/settings.js';

const { openModel, llama2cTokenizer } = models;
const usual = 500;
const watch = watchdog();
after(watch.stop);

/** Numbers that lengths, counts and offsets go wrong at. */
const edges = [
  0n,
  1n,
  31n,
  2n ** 16n,
  2n ** 31n - 1n,
  2n ** 32n - 1n,
  2n ** 53n,
  2n ** 63n,
  2n ** 64n - 1n,
];

/** What is done to a file: bytes set, words of 4 or 8 bytes put to an edge, parts taken out, doubled, or cut off. */
const changes = fc.array(
  fc.record({
    kind: fc.constantFrom(
      ...Array(6).fill('byte'),
      'word',
      'word',
      'word',
      'out',
      'twice',
      'cut',
      'text',
    ),
    // Evenly, because numbers of fast-check are mostly small.
    at: fc.noBias(fc.nat(2 ** 30 - 1)).map((x) => x / 2 ** 30),
    // Most of what can go wrong is at the start.
    isEarly: fc.boolean(),
    value: fc.integer({ min: 0, max: 255 }),
    edge: fc.constantFrom(...edges),
    size: fc.constantFrom(4, 8),
    length: fc.integer({ min: 1, max: 64 }),
    text: fc.constantFrom('__proto__', 'constructor', '9e99', '-1', 'null', '[[', '"', '\u0000'),
  }),
  { minLength: 1, maxLength: 3 },
);

function apply(file, { kind, at: share, isEarly, value, edge, size, length, text }) {
  const span = isEarly ? Math.min(file.length, 1500) : file.length;
  const at = Math.floor(share * Math.max(span - 8, 0));
  const [before, rest] = [file.subarray(0, at), file.subarray(at)];
  const join = (...parts) => new Uint8Array(Buffer.concat(parts));
  if (kind === 'cut') return file.slice(0, at);
  if (kind === 'out') return join(before, rest.subarray(length));
  if (kind === 'twice') return join(before, rest.subarray(0, length), rest);
  if (kind === 'text') return join(before, Buffer.from(text), rest.subarray(text.length));
  const changed = file.slice();
  if (kind === 'byte' && at < changed.length) changed[at] = value;
  if (kind === 'word' && at + 8 <= changed.length) {
    const view = new DataView(changed.buffer);
    if (size === 4) view.setUint32(at, Number(BigInt.asUintN(32, edge)), true);
    else view.setBigUint64(at, edge, true);
  }
  return changed;
}

const llama = families.llama();
const own = ownModel({ format: 'int8' });
const model = ggufModels.qwen2();
const tokens = ['a', 'b', 'ab'].map(gguf.text);
const tokenizer = [
  ...[['model', gguf.text('llama')], ['tokens', gguf.list(tokens)]],
  ...[['scores', gguf.list([1, 2, 3].map(gguf.f32))], ['token_type', gguf.list([1, 1, 1].map(gguf.i32))]],
].map(([key, value]) => [`tokenizer.ggml.${key}`, value]); // prettier-ignore
const files = {
  safetensors: { weights: safetensors(llama.tensors), config: llama.config },
  'safetensors of ours': { weights: safetensors(own.tensors, ownMetadata()) },
  gguf: { weights: ggufFile([...model.metadata, ...tokenizer], model.tensors) },
};

const pollution = () => Object.getOwnPropertyNames(Object.prototype).sort().join();
const clean = pollution();

/** Whether a model was read; no other error than ours, and every element once. */
async function isRead(source) {
  try {
    const opened = await openModel(source);
    const arrays = await collect(opened);
    opened.tokenizer?.decode([...opened.tokenizer.encode('ab ba')]);
    for (const [name, { data }] of Object.entries(arrays)) {
      assert.ok(data.length > 0, name);
    }
    return true;
  } catch (error) {
    if (!(error instanceof QkvError)) throw error;
    assert.match(error.message, /^load: .*expected /s);
    return false;
  } finally {
    assert.equal(pollution(), clean);
  }
}

for (const [name, source] of Object.entries(files)) {
  test(`fuzz: ${name} with anything in it`, async (t) => {
    t.diagnostic(about(usual));
    let read = 0;
    assert.ok(await isRead(source));
    await fc.assert(
      fc.asyncProperty(changes, async (all) => {
        watch.note(
          `${name}: ${JSON.stringify(all, (_, value) => (typeof value === 'bigint' ? `${value}` : value))}`,
        );
        const weights = all.reduce(apply, source.weights);
        read += Number(await isRead({ ...source, weights }));
      }),
      settings(usual),
    );
    t.diagnostic(`${read} were read`);
    // Most changes of an element leave a file that can be read.
    assert.ok(read > settings(usual).numRuns / 20, `${read}`);
  });
}

test('fuzz: any config', async (t) => {
  t.diagnostic(about(usual));
  const keys = Object.keys({
    ...families.gemma2().config,
    ...families.gpt2().config,
    ...llama.config,
    ...families.bert().config,
  });
  const values = fc.oneof(
    fc.constantFrom(
      null,
      true,
      false,
      0,
      -1,
      1,
      64,
      2 ** 31,
      2 ** 53,
      1e308,
      0.5,
      '',
      'gelu',
      '__proto__',
      [],
      {},
    ),
    fc.jsonValue({ maxDepth: 2 }),
  );
  const change = fc.dictionary(fc.oneof(fc.constantFrom(...keys), fc.string()), values, {
    maxKeys: 3,
  });
  const family = fc.constantFrom(...Object.keys(families));
  const weights = Object.fromEntries(
    Object.entries(families).map(([name, make]) => {
      const { tensors, config } = make();
      return [name, { weights: safetensors(tensors), config }];
    }),
  );
  await fc.assert(
    fc.asyncProperty(family, change, async (name, own2) => {
      watch.note(`${name}: ${JSON.stringify(own2)}`);
      const { weights: file, config } = weights[name];
      const text = JSON.stringify({ ...config, ...own2 });
      await isRead({ weights: file, config: JSON.parse(text) });
    }),
    settings(usual),
  );
});

test('fuzz: tokenizers of llama2.c with anything in them', () => {
  const file = llama2cTokens([
    ['a', 1],
    ['b', 2],
    ['ab', 3],
    ['<0x0A>', 0],
    ['中', 1],
  ]);
  let read = 0;
  fc.assert(
    fc.property(changes, fc.string({ unit: 'binary' }), (all, text) => {
      watch.note(`tokenizer: ${text}`);
      try {
        const made = llama2cTokenizer(all.reduce(apply, file));
        made.decode([...made.encode(text)]);
        read += 1;
      } catch (error) {
        if (!(error instanceof QkvError)) throw error;
      }
    }),
    settings(usual),
  );
  assert.ok(read > 0);
});
