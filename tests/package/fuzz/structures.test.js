// @build any
// Files of strangers, spoilt where they have a structure: entries that lie, names that every object inherits something by,
// tokenizers that do not fit, shards and indexes. Reading ends in a typed error or in a model, and asks of the web nothing but
// the files beside the index.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { expectSame } from '../../support/js/check.js';
import { families } from '../models/support/families.js';
import { llama2cFile, safetensors } from '../models/support/files.js';
import { ownMetadata, ownModel } from '../models/support/own.js';
import { textOf as text } from './support/bytes.js';
import { cases, familyOf, fileOf } from './support/gguf.js';
import { anyJson, jsonText, objectText, oddNames } from './support/json.js';
import { isRead, readOrRefused } from './support/reading.js';
import { faults, share, spoilt } from './support/safetensors.js';
import { about, settings, watchdog } from './support/settings.js';
import { onWeb } from './support/web.js';

const usual = 125;
const watch = watchdog();
after(watch.stop);

/** fc.assert() of an async property that says whether a model was read; some are, and some are not. */
async function judge(t, cases2, textOf, read) {
  t.diagnostic(about(usual));
  let count = 0;
  await fc.assert(
    fc.asyncProperty(cases2, async (what) => {
      watch.note(`${t.name}: ${textOf(what)}`);
      count += Number(await read(what));
    }),
    settings(usual),
  );
  t.diagnostic(`${count} were read`);
  assert.ok(count > 0 && count < settings(usual).numRuns, `${count}`);
}

const { truth, tensors, config } = families.llama();
const letters = Array.from('abcdefgh ');
const tokenizer = JSON.stringify({ type: 'characters', tokens: letters });
const ours = safetensors(ownModel({ format: 'int8' }).tensors, { ...ownMetadata(), tokenizer });
const theirs = safetensors(tensors, { format: 'pt' });

test('fuzz: safetensors with faults in the header', (t) =>
  judge(t, faults, text, (all) => isRead({ config, weights: spoilt(theirs, all) })));

test('fuzz: safetensors of ours with faults in header, config and tokenizer', (t) =>
  judge(t, faults, text, (all) => isRead({ weights: spoilt(ours, all) })));

test('fuzz: GGUF with faults in metadata, tokenizer and arrays', (t) =>
  judge(
    t,
    cases,
    (of) => `${familyOf(of)} ${text(of.faults)}`,
    (of) => isRead({ weights: fileOf(of) }),
  ));

const sizes = fc.oneof(
  { weight: 20, arbitrary: fc.integer({ min: 1, max: 9 }) },
  { weight: 1, arbitrary: fc.constantFrom(0, -1, -7, 2 ** 16, 2 ** 23, 2 ** 24, 2 ** 31 - 1, -(2 ** 31)) },
); // prettier-ignore
const headers = fc.record({
  ...{ d: sizes, f: sizes, layers: sizes, heads: sizes, kv: sizes, v: sizes, length: sizes },
  isOpen: fc.boolean(),
  off: fc.constantFrom(0, 0, 0, 0, 1, -1, -4),
});

/** How many numbers a checkpoint of llama2.c has: run.c of it, with the tables that it skips. */
function numbersOf({ d, f, layers, heads, kv, v, length, isOpen }) {
  const ofKeys = (d / heads) * kv;
  const layer = 2 * d + 2 * d * d + 2 * d * ofKeys + 3 * d * f;
  return v * d + layers * layer + d + 2 * length * Math.floor(d / heads / 2) + (isOpen ? v * d : 0);
}

test('fuzz: checkpoints of llama2.c with any numbers in the header', (t) =>
  judge(t, headers, text, async ({ off, ...of }) => {
    const { d, f, layers, heads, kv, v, length, isOpen } = of;
    const count = numbersOf(of);
    const size = count > 0 && count < 50_000 ? Math.floor(count) : 1000;
    const bytes = llama2cFile(
      [d, f, layers, heads, kv, isOpen ? -v : v, length],
      [new Float32Array(size)],
    );
    return isRead({ weights: off > 0 ? new Uint8Array([...bytes, 0]) : bytes.slice(0, off || undefined) }); // prettier-ignore
  }));

test('fuzz: shards in any number and order', (t) => {
  const parts = [0, 1, 2].map((i) =>
    safetensors(Object.fromEntries(Object.entries(tensors).filter((_, at) => at % 3 === i))),
  );
  const chosen = fc.oneof(
    fc.shuffledSubarray([0, 1, 2]),
    fc.array(fc.nat(2), { maxLength: 5 }),
    fc.shuffledSubarray([0, 1, 2], { minLength: 3 }),
  );
  return judge(t, chosen, text, async (all) => {
    const isWhole = [...all].sort().join() === '0,1,2';
    const found = await readOrRefused({ config, weights: all.map((i) => parts[i]) });
    assert.equal(found !== undefined, isWhole, 'each once');
    return isWhole;
  });
});

// ------------------------------------------------------------------------------------------------ indexes

const names = Object.keys(tensors);
const files = ['model-1.safetensors', 'model-2.safetensors'];
const shard = (scale) => (file) =>
  safetensors(
    Object.fromEntries(
      names
        .filter((_, i) => files[i % 2] === file)
        .map((name) => [
          name,
          { ...tensors[name], values: tensors[name].values.map((x) => x * scale) },
        ]),
    ),
  );
/** What is found elsewhere: the same arrays with other numbers in them. */
const decoy = shard(2)(files[0]);
/** A file beside the index, which may be asked for whatever its name is. */
const beside = /^https:\/\/models\.test\/llama\/[\w.-]+$/;
/** An index may name a file beside it that is not there: it is empty. */
const elsewhere = (path) => (beside.test(path) ? new Uint8Array() : decoy);
const places = [
  ...['../model-1.safetensors', '/model-1.safetensors', './model-1.safetensors', 'a/../model-1.safetensors'],
  ...['..%2fmodel-1.safetensors', 'model-1.safetensors?x', 'model-1.safetensors#x', '\\\\server\\x', '..\\x'],
  ...['http://other.test/model-1.safetensors', '//other.test/x', 'https:other.test', 'file:///etc/passwd'],
  ...['data:,x', 'blob:x', 'C:model', 'model-1.safetensors\n', ' model-1.safetensors', 'm'.repeat(300), '.', '..'],
  ...['', 'model-3.safetensors', 'index.json', ...files, ...files],
]; // prettier-ignore
const indexes = fc.record({
  faults: fc.array(
    fc.record({
      kind: fc.constantFrom('place', 'place', 'value', 'name', 'drop', 'map', 'nothing'),
      at: share,
      place: fc.constantFrom(...places),
      name: fc.nat(oddNames.length - 1),
      value: anyJson,
    }),
    { minLength: 1, maxLength: 2 },
  ),
  address: fc.constantFrom('', '?token=a/b', '#a/b'),
});

/** The text of an index with these faults. */
function indexOf(all) {
  const pairs = names.map((name, i) => [name, JSON.stringify(files[i % 2])]);
  let map;
  for (const { kind, at, place, name, value } of all) {
    const pair = pairs[Math.floor(at * pairs.length)];
    if (kind === 'place') pair[1] = JSON.stringify(place);
    if (kind === 'value') pair[1] = jsonText(value);
    if (kind === 'name') pair[0] = oddNames[name];
    if (kind === 'drop') pairs.splice(0, Math.floor(at * pairs.length));
    if (kind === 'map') map = jsonText(value);
    if (pairs.length === 0) pairs.push([names[0], JSON.stringify(files[0])]);
  }
  return objectText([['weight_map', map ?? objectText(pairs)]]);
}

test('fuzz: indexes of shards that name anything: only files beside them are asked for', async (t) => {
  const folder = 'https://models.test/llama/';
  const there = new Map(files.map((file) => [folder + file, shard(1)(file)]));
  const textOf = ({ faults: all, address }) => `${address} ${text(all)}`;
  await judge(t, indexes, textOf, async ({ faults: all, address }) => {
    const index = new TextEncoder().encode(indexOf(all));
    const known = new Map([...there, [`${folder}index.json`, index]]);
    const weights = `${folder}index.json${address}`;
    const { result, asked } = await onWeb(known, elsewhere, () =>
      readOrRefused({ config, weights }),
    );
    assert.equal(asked[0], weights);
    for (const url of asked.filter((each) => each !== weights)) {
      assert.match(url, beside, 'only what lies beside it');
      assert.equal(new URL(url).href, url);
    }
    for (const [name, { data }] of Object.entries(result ?? {}))
      expectSame(data, truth.arrays[name].data, name);
    return result !== undefined;
  });
});
