// @build any
// How texts are cut into words before pairs are merged, by the names that GGUF has for the ways. The pieces follow from the patterns,
// which tokenizer.json files of the families have.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { models } from './support/bundle.js';

const { cutOf, wordsOf } = models;

/** Names that mean the same. */
const names = {
  default: [],
  'gpt-2': ['phi-2', 'jina-es', 'jina-de', 'jina-v2-es', 'jina-v2-de', 'jina-v1-en', 'jina-v2-code', 'roberta-bpe', 'gigachat', 'a.x-4.0', 'mellum', 'modern-bert', 'exaone4', 'jais', 'trillion', 'granite-docling'],
  mpt: ['olmo'],
  smollm: ['starcoder', 'refact', 'command-r', 'codeshell', 'exaone', 'minerva-7b', 'mellum2'],
  falcon: [],
  'llama-bpe': ['llama3', 'llama-v3', 'falcon3', 'falcon-h1', 'pixtral', 'midm-2.0', 'lfm2', 'jina-v5-nano'],
  dbrx: ['smaug-bpe', 'glm4', 'chatglm-bpe'],
  minicpm5: [],
  qwen2: [],
  'deepseek-r1-qwen': ['kormo', 'f2llmv2', 'megrez', 'stablelm2', 'hunyuan', 'solar-open', 'grok-2'],
  qwen35: [],
  ufakzeka: [],
  laguna: [],
  bailingmoe: ['bailingmoe2', 'llada-moe'],
  'seed-coder': [],
  'exaone-moe': [],
  'jais-2': [],
  tekken: [],
  'gpt-4o': ['llama4', 'kanana2', 'talkie', 'minimax-m2'],
  'granite-embed-multi-97m': [],
  tiny_aya: ['cohere2moe'],
  youtu: [],
  'deepseek-v3': ['hunyuan-dense', 'joyai-llm', 'hy_v4'],
  spark2_5: [],
  'deepseek-coder': [],
  'deepseek-llm': [],
  bloom: ['poro-chat', 'gpt3-finnish'],
  viking: [],
  superbpe: [],
  chameleon: [],
}; // prettier-ignore
const all = Object.keys(names);

describe('names', () => {
  for (const [name, others] of Object.entries(names)) {
    test(`${[name, ...others].join(', ')}`, () => {
      const cut = cutOf(name);
      assert.ok(cut);
      for (const other of others) assert.deepEqual(cutOf(other), cut, other);
    });
  }
  test('a name that nobody has', () => {
    for (const name of ['', 'gpt', 'gpt-2 phi-2', 'constructor', 'kimi-k2']) {
      assert.equal(cutOf(name), undefined);
    }
  });
  test('words that are tokens before any merge, and a token that begins a text', () => {
    const has = (field) => all.filter((name) => cutOf(name)[field]).sort();
    const whole = ['llama-bpe', 'minicpm5', 'tekken', 'granite-embed-multi-97m', 'youtu'];
    assert.deepEqual(has('wholeWords'), whole.sort());
    assert.deepEqual(has('addsBegin'), ['chameleon', 'llama-bpe', 'tekken']);
    assert.deepEqual(has('composes'), ['mpt', 'qwen2', 'qwen35']);
  });
});

/** A text, and the names by what they make of it. Those that are not named make of it what the last, '*', says. */
const cases = [
  ['12345', {
    '12345': 'gpt-2 mpt bloom',
    '1|2|3|4|5': 'smollm qwen2 deepseek-r1-qwen qwen35 ufakzeka laguna bailingmoe seed-coder exaone-moe tekken youtu spark2_5 deepseek-coder deepseek-llm viking chameleon',
    '12|345': 'tiny_aya superbpe',
    '123|45': '*',
  }],
  ['a 7', {
    'a| 7': 'gpt-2 mpt falcon bloom',
    'a |7': 'superbpe',
    'a| |7': '*',
  }],
  ["it'sx", {
    "it|'sx": 'ufakzeka tekken deepseek-v3 spark2_5',
    "it's|x": 'gpt-4o granite-embed-multi-97m tiny_aya youtu',
    "it|'|sx": 'default falcon deepseek-coder deepseek-llm chameleon',
    "it'sx": 'bloom viking superbpe',
    "it|'s|x": '*',
  }],
  ["I'LL", {
    "I|'|LL": 'default gpt-2 mpt smollm falcon deepseek-coder deepseek-llm chameleon',
    "I'LL": 'gpt-4o granite-embed-multi-97m tiny_aya youtu bloom viking superbpe',
    "I|'LL": '*',
  }],
  ['camelCaseABCd', {
    'camel|Case|ABCd': 'tekken gpt-4o granite-embed-multi-97m tiny_aya youtu',
    'camelCaseABCd': '*',
  }],
  ['a.com', {
    'a|.|com': 'default gpt-2 mpt smollm falcon deepseek-coder deepseek-llm bloom viking chameleon',
    'a.com': 'superbpe',
    'a|.com': '*',
  }],
  ['a !?', {
    'a| |!?': 'default falcon',
    'a| |!|?': 'chameleon',
    'a !?': 'superbpe',
    'a| !?': '*',
  }],
  ['!\n\nb', {
    '!\n\n|b': 'llama-bpe dbrx minicpm5 qwen2 deepseek-r1-qwen qwen35 ufakzeka bailingmoe jais-2 tekken gpt-4o granite-embed-multi-97m tiny_aya youtu deepseek-v3 bloom viking',
    '!|\n\n|b': 'seed-coder laguna',
    '!\n|\n|b': 'exaone-moe',
    '!\n\nb': 'superbpe',
    '!|\n|\n|b': '*',
  }],
  // A letter and a mark that no letter has in it.
  ['\u0928\u093f', {
    '\u0928\u093f': 'qwen35 exaone-moe tekken gpt-4o granite-embed-multi-97m tiny_aya youtu deepseek-v3 spark2_5 deepseek-llm bloom viking superbpe',
    '\u0928|\u093f': '*',
  }],
  ['\u4e2d\u6587a', {
    '\u4e2d\u6587|a': 'deepseek-v3 spark2_5 youtu deepseek-coder deepseek-llm',
    '\u4e2d\u6587a': '*',
  }],
  // No space in Unicode, though it is one in JavaScript.
  ['a\ufeff!', {
    'a|\ufeff|!': 'default falcon deepseek-v3 spark2_5 deepseek-coder deepseek-llm chameleon',
    'a\ufeff!': 'superbpe',
    'a\ufeff|!': 'bloom viking',
    'a|\ufeff!': '*',
  }],
  // A space in Unicode, though it is none in JavaScript.
  ['a\u0085!', {
    'a\u0085!': 'superbpe',
    'a|\u0085!': 'deepseek-coder deepseek-llm bloom viking',
    'a|\u0085|!': '*',
  }],
]; // prettier-ignore

describe('words', () => {
  for (const [text, ways] of cases) {
    test(`${JSON.stringify(text)}`, () => {
      for (const name of all) {
        const [expected] = Object.entries(ways).find(([, who]) => who.split(' ').includes(name)) ?? Object.entries(ways).at(-1); // prettier-ignore
        const words = wordsOf(text, cutOf(name));
        assert.equal(words.join('|'), expected, name);
      }
    });
  }

  test('they are all of the text, whatever it is', () => {
    const text =
      ' Don\u2019t  \u00c9T\u00c9 e\u0301 ABc9\u00bd \t\r\n\n\u3000x IMGIMGABZ <sentinel:3>(\u0e01)_\ud83d\ude00 \u06d4 ...--\u2603  ';
    for (const name of all) assert.equal(wordsOf(text, cutOf(name)).join(''), text, name);
  });

  for (const [name, text, expected] of [
    ['jais-2', ' '.repeat(13) + 'x', [' '.repeat(8), ' '.repeat(4), ' x']],
    ['chameleon', 'xIMGIMGABZ!', ['x', 'IMGIMGABZ', '!']],
    ['tiny_aya', '1234567', ['1', '234', '567']],
    ['superbpe', 'a 1234567 b', ['a ', '1', '234', '567', ' b']],
    ['laguna', 'a\n b', ['a', '\n', ' b']],
    ['deepseek-llm', 'a b, c', ['a', ' b', ',', ' c']],
    // Only letters of its list are words of their own; Armenian has its capital ones there.
    [
      'deepseek-llm',
      '\u0300 \u0561\u0295\u0300 \u0531',
      ['\u0300 \u0561', '\u0295', '\u0300', ' \u0531'],
    ],
    // A space that the list of signs has, with one before, and then the list of letters.
    ['deepseek-llm', '  \u3000', [' ', ' ', '\u3000']],
  ]) {
    test(`${name}: ${JSON.stringify(text)}`, () => {
      assert.deepEqual(wordsOf(text, cutOf(name)), expected);
    });
  }
});
