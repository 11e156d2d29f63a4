// The search of the documentation: what a reader asks for, and the page that should come first. The index is made of what both
// halves wrote down when they were built.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import MiniSearch from 'minisearch';
import { hasCore } from '../../tools/docs/contents.js';
import { find } from '../../tools/docs/search/find.js';
import { indexOptions } from '../../tools/docs/search/words.js';
import { root } from '../support/js/files.js';

let index;
before(() => {
  // As a page loads it: a script that sets one text.
  const script = readFileSync(join(root, 'build/docs/assets/search-index.js'), 'utf8');
  const [, text] = /^globalThis\.qkvSearchIndex = (.*);\n$/s.exec(script);
  index = MiniSearch.loadJSON(JSON.parse(text), indexOptions);
});

const first = (question, page) => find(index, question, page)[0]?.results[0];
const placesOf = (groups) => groups.flatMap(({ results }) => results.map(({ url }) => url));

/** What a reader writes, and the page that answers. */
const guides = {
  gguf: 'guides/model-files.html#gguf',
  safetensors: 'guides/model-files.html',
  chat: 'cookbook/chat.html',
  chatting: 'cookbook/chat.html',
  quantize: 'guides/models.html#formats',
  quantisation: 'guides/models.html#quantised-files',
  cloudflare: 'cookbook/edge-workers.html',
  'kv cache': 'guides/attention.html#one-token-at-a-time',
  rotary: 'guides/attention.html#positions',
  attention: 'guides/attention.html',
  'causal mask': 'guides/conventions.html#masks',
  'fine-tune': 'cookbook/fine-tuning.html',
  lora: 'cookbook/fine-tuning.html',
  vite: 'guides/bundlers.html#vite',
  circuit: 'guides/circuit.html',
  worker: 'guides/workers.html',
  'json schema': 'guides/constraints.html',
  cmake: 'core/using.html',
  atten: 'guides/attention.html',
  safetensor: 'guides/model-files.html',
};
for (const [question, place] of Object.entries(guides)) {
  test(`search: ${question} finds ${place} first, in a guide`, (t) => {
    if (place.startsWith('core/') && !hasCore) return t.skip('without the C++ reference');
    const [group] = find(index, question);
    assert.equal(group.title, 'Guides');
    const { url } = group.results[0];
    // A page or a section of it; where a page is meant, any of its sections answers.
    assert.equal(place.includes('#') ? url : url.replace(/#.*/, ''), place);
  });
}

const symbols = {
  LanguageModel: 'package/interfaces/qkv_models.LanguageModel.html',
  kvCache: 'package/functions/qkv.kvCache.html',
  KvCache: 'package/interfaces/qkv.KvCache.html',
  multiHeadAttention: 'package/functions/qkv.multiHeadAttention.html',
  'rotaryEmbedding()': 'package/functions/qkv.rotaryEmbedding.html',
  'LanguageModel.generate': 'package/methods/qkv_models.LanguageModel.generate.html',
  attentionBackward: 'package/functions/qkv_train.attentionBackward.html',
  ...(hasCore && {
    multi_head_attention: 'core/classqkv_1_1MultiHeadAttention.html',
    'qkv::KvCache': 'core/classqkv_1_1KvCache.html',
  }),
};
for (const [name, place] of Object.entries(symbols)) {
  test(`search: ${name}, a name of a program, finds ${place} before the guides`, () => {
    assert.equal(first(name).url, place);
  });
}

test('search: both halves answer one question, guides before JavaScript before C++', (t) => {
  if (!hasCore) return t.skip('without the C++ reference');
  const titles = find(index, 'attention').map(({ title }) => title);
  assert.deepEqual(titles.slice(0, 3), ['Guides', 'JavaScript', 'C++']);
  const functions = find(index, 'rotary')
    .slice(1, 3)
    .map(({ results }) => results[0].label);
  assert.deepEqual(functions, ['Qkv.rotaryEmbedding', 'rotary_table']);
});

test('search: Chinese finds Chinese pages first, and what English pages have of it behind them', () => {
  const chinese = (url) => url.includes('zh-cn');
  for (const question of ['注意力', '因果', '语言模型', '聊天']) {
    const places = placesOf(find(index, question));
    assert.ok(chinese(places[0]), `${question}: ${places[0]}`);
    const from = places.findIndex((place) => !chinese(place));
    assert.ok(from < 0 || places.slice(from).every((place) => !chinese(place)), question);
  }
  const english = find(index, '聊天').find(({ title }) => title === 'Guides (English)');
  assert.equal(english.results[0].url, 'cookbook/chat.html');
});

test('search: a page in Chinese has Chinese results first, a page in English those in English', () => {
  const there = placesOf(find(index, 'safetensors', { chinese: true }));
  assert.match(there[0], /zh-cn/);
  const here = find(index, 'safetensors');
  assert.equal(here.at(-1).title, '中文');
  assert.ok(
    here.slice(0, -1).every(({ results }) => results.every(({ url }) => !/zh-cn/.test(url))),
  );
});

test('search: nothing is found for nothing, and for what is nowhere', () => {
  for (const question of ['', '   ', 'zzqxv']) assert.deepEqual(find(index, question), []);
});

test('search: a page is found once, with its best section', () => {
  const places = placesOf(find(index, 'attention'));
  const pages = places
    .filter((place) => !/^(?:core|package)/.test(place))
    .map((place) => place.replace(/#.*/, ''));
  assert.equal(new Set(pages).size, pages.length);
});
