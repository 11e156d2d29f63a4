// @build any
// The tables of wasm/docs/models.md: their families, types and parts of tokenizers are those that load() knows, and are tested as they say.
// What load() knows is what it expects where a file has something else.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { blockTypes } from '../../support/js/blocks.js';
import { root } from '../../support/js/files.js';
import { cases } from '../../reference/llama_cpp/models.js';
import { models } from './support/bundle.js';
import { families } from './support/families.js';
import { gguf, ggufFile, safetensors } from './support/files.js';
import { ggufModels } from './support/gguf-models.js';

const { openModel, jsonTokenizer, ggufTokenizer, isReadable } = models;
const guide = readFileSync(join(root, 'wasm/docs/models.md'), 'utf8');

/** The rows of the table whose head begins so: cells without the bars. */
function tableOf(head) {
  const [, ...lines] = guide
    .slice(guide.indexOf(`| ${head} |`))
    .split('\n\n')[0]
    .split('\n');
  const rows = lines.slice(1).map((line) => line.slice(1, -1).split('|').map((cell) => cell.trim())); // prettier-ignore
  assert.ok(rows.length > 2, head);
  return rows;
}
const quoted = (text) => [...text.matchAll(/`([^`]+)`/g)].map(([, name]) => name);
const sorted = (names) => [...new Set(names)].sort();

/** What the refusal of an unknown word expects. */
async function known(ask) {
  try {
    await ask();
  } catch (error) {
    return error.message.replace(/.* expected /, '').split(', ');
  }
  return assert.fail('an unknown word is not refused');
}

const rows = tableOf('`model_type` on the hub');
const types = rows.flatMap(([type]) => quoted(type));
const ownNames = rows.flatMap(([, name]) => (name.startsWith('as ') ? [] : quoted(name)));

test('the families of the hub, each with a small model', async () => {
  const weights = safetensors({ a: { type: 'F32', shape: [1], values: [1] } });
  const expected = await known(() => openModel({ config: { model_type: 'none' }, weights }));
  assert.deepEqual(types.toSorted(), sorted(expected));
  assert.deepEqual(sorted(types), sorted(Object.keys(families)));
});

test('the families of GGUF, each with a small model', async () => {
  const weights = ggufFile([['general.architecture', gguf.text('none')]], {});
  const expected = await known(() => openModel({ weights }));
  assert.deepEqual(ownNames.toSorted(), sorted(expected));
  const made = Object.values(ggufModels).map((make) => make().metadata.find(([key]) => key === 'general.architecture')[1]); // prettier-ignore
  assert.deepEqual(sorted(made.map(({ bytes }) => new TextDecoder().decode(bytes.slice(8)))), sorted(ownNames)); // prettier-ignore
  for (const [, name] of rows) assert.ok(quoted(name).every((each) => ownNames.includes(each)), name); // prettier-ignore
});

test('the types beside llama.cpp, of each family of which there are logits', () => {
  const told = rows.flatMap(([, name, , formats]) => (formats === '' ? [] : formats.split(', ').map((type) => `${quoted(name)[0]} ${type}`))); // prettier-ignore
  const names = { llama3: 'llama', bert_mean: 'bert', bert_cls: 'bert' };
  assert.deepEqual(
    sorted(told),
    sorted(cases.map(({ family, format }) => `${names[family] ?? family} ${format}`)),
  );
});

test('the types of blocks, each with its formula', () => {
  const told = tableOf('type in the file').flatMap(([type]) => type.split(', '));
  const wide = ['F32', 'F16', 'BF16', 'I8'];
  const all = 'Q4_0 Q4_1 Q4_2 Q4_3 Q5_0 Q5_1 Q8_0 Q8_1 Q2_K Q3_K Q4_K Q5_K Q6_K Q8_K IQ2_XXS IQ2_XS IQ3_XXS IQ1_S IQ4_NL IQ3_S IQ2_S IQ4_XS I16 I32 I64 F64 IQ1_M TQ1_0 TQ2_0 MXFP4'; // prettier-ignore
  const readable = all.split(' ').filter(isReadable);
  assert.deepEqual(sorted(told.filter((type) => !wide.includes(type))), readable.toSorted());
  assert.deepEqual(sorted(Object.keys(blockTypes)), readable.toSorted());
  assert.ok(guide.includes(`[${readable.length} types of blocks]`));
});

test('the parts of tokenizer.json', async () => {
  const model = { type: 'BPE', vocab: { a: 0 }, merges: [] };
  const parts = tableOf('part of tokenizer.json').filter(([, says]) => says.endsWith(', Sequence'));
  assert.equal(parts.length, 4);
  for (const [part, says] of parts) {
    const [name] = quoted(part);
    const expected = await known(() => jsonTokenizer({ model, [name]: { type: 'None' } }));
    const told = says.split(', ').map((word) => word.replace(' of one text', ''));
    assert.deepEqual(told.toSorted(), sorted(expected), name);
  }
  const kinds = await known(() => jsonTokenizer({ model: { ...model, type: 'None' } }));
  assert.ok(guide.includes(`models ${kinds.join(', ').replace(/, (?=\w+$)/, ' and ')} with the parts`)); // prettier-ignore
});

test('the kinds of tokenizers in GGUF', () => {
  const told = tableOf('kind in GGUF').map(([kind]) => quoted(kind));
  const isKnown = (kind) => {
    const metadata = new Map([['tokenizer.ggml.model', kind]]);
    return !ggufTokenizer({ metadata }).problem.includes('not known');
  };
  for (const kind of told.slice(0, -1).flat()) assert.ok(isKnown(kind), kind);
  for (const kind of [...told.at(-1), 'none', 'plamo2']) assert.ok(!isKnown(kind), kind);
});
