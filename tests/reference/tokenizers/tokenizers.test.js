// @build any
// Tokenizers beside those of others, on real vocabularies, which may not be published here. QKV_TOKENIZERS names a folder with
//   gguf/*.gguf                GGUF files with tokenizers (those of vocabularies alone too)
//   json/*.json                tokenizer.json files of the Hugging Face hub
//   node_modules/tokenizers, node_modules/@node-llama-cpp/linux-x64      the packages of the others
// GGUF is compared with llama.cpp, tokenizer.json with Hugging Face's Rust. Where llama.cpp and this package disagree, Rust is asked too,
// with the same vocabulary as a tokenizer.json: then it is llama.cpp's own fault if Rust is of the opinion of this package. Where Rust
// and this package disagree, it is Rust's own fault if that is because its tables are those of Unicode 8 (see newerLetters).
import assert from 'node:assert/strict';
import { existsSync, openAsBlob, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { models } from '../../package/models/support/bundle.js';
import { converted, vocabularyOf } from './converted.js';
import { referencesIn } from './references.js';
import { hardStrings } from './strings.js';

const { readFiles, ggufTokenizer, jsonTokenizer } = models;
const folder = process.env['QKV_TOKENIZERS'];
const references = folder === undefined ? undefined : referencesIn(folder);
const count = Number(process.env['QKV_TOKENIZERS_STRINGS'] ?? 2000);
const only = process.env['QKV_TOKENIZERS_ONLY']?.split(',');

const filesIn = (name, ending) => {
  const path = join(folder, name);
  const files = existsSync(path) ? readdirSync(path).filter((file) => file.endsWith(ending)) : [];
  return files.filter((file) => !only || only.includes(file)).map((file) => [file.slice(0, -ending.length), join(path, file)]); // prettier-ignore
};

/** Without the tokens that the tokenizer puts around every text. */
function bare(tokenizer, text) {
  const around = tokenizer.encode('');
  const before = tokenizer.begin === undefined ? 0 : 1;
  const ids = [...tokenizer.encode(text)];
  return ids.slice(before, ids.length - (around.length - before));
}

const show = (text, ours, theirs) => `   ${JSON.stringify(text).slice(0, 70)} here [${ours.slice(0, 12)}] there [${theirs.slice(0, 12)}]`; // prettier-ignore

/** Texts that the two do not encode, or decode, alike. */
async function differences(texts, ours, theirs, decoding) {
  const found = [];
  for (const text of texts) {
    const [a, b] = [[...ours(text)], [...(await theirs(text))]];
    if (String(a) !== String(b)) found.push({ text, a, b });
  }
  const decoded = [];
  for (const text of decoding ? texts : []) {
    const ids = [...(await theirs(text))];
    const [a, b] = [decoding.ours(ids), await decoding.theirs(ids)];
    if (a !== b) decoded.push({ text, a: [a], b: [b] });
  }
  return { found, decoded };
}

/**
 * Marks and signs of Unicode which the other one, asked about each by itself, does not take for what they are, each with one of its
 * kind that everybody knows: a mark is left out with the accents, a sign is a word of its own.
 */
async function newerLetters(text, encode) {
  const same = async (a, b) => String([...(await encode(a))]) === String([...(await encode(b))]);
  const newer = new Map();
  for (const letter of new Set(text.normalize('NFD'))) {
    if (/\p{Mn}/u.test(letter) && !(await same(`a${letter}b`, 'ab'))) newer.set(letter, '\u0300');
    if (/\p{P}/u.test(letter) && !(await same(`a${letter}b`, `a ${letter} b`))) newer.set(letter, '!'); // prettier-ignore
  }
  return newer;
}

/** Those of the differences that stay where such letters are replaced, and those of texts without any. */
async function notOfNewerLetters(found, json, ours, theirs) {
  // BERT alone takes accents away and cuts at signs.
  if (json.normalizer?.type !== 'BertNormalizer') return found;
  const left = [];
  for (const each of found) {
    const newer = await newerLetters(each.text, theirs);
    const text = Array.from(each.text.normalize('NFD'), (letter) => newer.get(letter) ?? letter).join(''); // prettier-ignore
    if (newer.size === 0 || String([...ours(text)]) !== String([...(await theirs(text))])) left.push(each); // prettier-ignore
  }
  return left;
}

async function compareJson(t, name, json, specials) {
  const theirs = await references.huggingFace(JSON.stringify(json));
  const ours = jsonTokenizer(json);
  const texts = hardStrings(count, specials);
  const decoding = { ours: (ids) => ours.decode(ids), theirs: theirs.decode };
  const { found, decoded } = await differences(texts, ours.encode, theirs.encode, decoding);
  const unexplained = await notOfNewerLetters(found, json, ours.encode, theirs.encode);
  t.diagnostic(`| ${name} | ${json.model.type ?? ''} | ${texts.length} | Rust: ${found.length}, not its fault: ${unexplained.length} | decoded: ${decoded.length} |`); // prettier-ignore
  for (const { text, a, b } of [...unexplained.slice(0, 5), ...decoded.slice(0, 5)]) t.diagnostic(show(text, a, b)); // prettier-ignore
  return { unexplained, decoded, theirs };
}

if (!references) {
  const message = 'SKIPPED: no real vocabularies and tokenizers of others; name their folder in QKV_TOKENIZERS'; // prettier-ignore
  console.log(message);
  test(message, { skip: true }, () => {});
} else {
  for (const [name, path] of filesIn('json', '.json')) {
    test(`jsonTokenizer: ${name}`, async (t) => {
      const json = JSON.parse(readFileSync(path, 'utf8'));
      const specials = json.added_tokens.map(({ content }) => content).slice(0, 17);
      const { unexplained, decoded } = await compareJson(t, name, json, specials);
      assert.deepEqual([unexplained.length, decoded.length], [0, 0]);
    });
  }
  for (const [name, path] of filesIn('gguf', '.gguf')) {
    test(`GGUF: ${name}`, async (t) => {
      const file = await readFiles([await openAsBlob(path)], []);
      const vocabulary = vocabularyOf(file.metadata);
      const { tokens, types } = vocabulary;
      const specials = tokens.filter((text, id) => types[id] !== 1 && types[id] !== 6 && text !== '').slice(0, 17); // prettier-ignore
      const texts = hardStrings(count, specials);
      const json = converted(vocabulary);
      const rust = json && (await compareJson(t, `${name} as tokenizer.json`, json, specials));
      const { tokenizer, tokenizerProblem } = { ...ggufTokenizer(file) };
      if (!tokenizer) return t.skip(`no tokenizer: ${tokenizerProblem}`);
      const theirs = await references.llamaCpp(path);
      const ours = (text) => bare(tokenizer, text);
      const { found } = await differences(texts, ours, theirs.encode);
      let unexplained = [];
      for (const each of found) {
        const third = rust ? await rust.theirs.encode(each.text) : [];
        if (String(third) !== String(each.a)) unexplained.push(each);
      }
      if (rust) unexplained = await notOfNewerLetters(unexplained, json, ours, rust.theirs.encode);
      t.diagnostic(`| ${name} | ${vocabulary.kind}/${vocabulary.pre} | ${texts.length} | llama.cpp: ${found.length}, not its fault: ${unexplained.length} |`); // prettier-ignore
      for (const { text, a, b } of unexplained.slice(0, 8)) t.diagnostic(show(text, a, b));
      assert.equal(unexplained.length, 0);
      if (rust) assert.deepEqual([rust.unexplained.length, rust.decoded.length], [0, 0]);
    });
  }
}
