// What the index of the search and the search itself have in common: how a text is taken apart into words, and how a page is
// found by them. It runs in Node, which makes the index, and in the reader's browser.
import { stemmer } from 'stemmer';

/** What says nothing of a page. */
const stopWords = new Set(
  'a an and are as at be by for from has have if in into is it its of on or that the their then there they this to was what when which will with'.split(
    ' ',
  ),
);

const HAN = /\p{Script=Han}+/gu;

/** Chinese has no spaces: a run of characters is found by each two that stand side by side, and one alone by itself. */
const pairsOf = (run) =>
  run.length === 1 ? [run] : Array.from({ length: run.length - 1 }, (_, i) => run.slice(i, i + 2));

/** A name as it is written and the words in it: kvCache is kvcache, kv and cache. */
function partsOf(name) {
  const parts = name.split(/_|(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/).filter(Boolean);
  return parts.length > 1 ? [name.replaceAll('_', ''), ...parts] : [name];
}

/** The words of a text, as the index has them. */
export function wordsOf(text) {
  const han = Array.from(text.matchAll(HAN), ([run]) => run).flatMap(pairsOf);
  const others = text.replace(HAN, ' ').match(/[\p{L}\p{N}_]+/gu) ?? [];
  return [...others.flatMap(partsOf), ...han];
}

const isIdle = (word) => stopWords.has(word) || /^(?:\d.*|[a-z])$/.test(word);

/** A word as it is written; nothing for what is not worth an entry: numbers, and what stands everywhere. */
export function rawWord(word) {
  const lower = word.toLowerCase();
  return isIdle(lower) ? undefined : lower;
}

/** A word without its ending: quantize, quantized and quantizing are one. */
export function stemOf(word) {
  const lower = rawWord(word);
  return lower && stemmer(lower);
}

/** Both: a question is looked up by whole words first, then, while one is being written, for what begins with it. */
function bothOf(word) {
  const lower = rawWord(word);
  if (lower === undefined) return undefined;
  const stem = stemmer(lower);
  return stem === lower ? lower : [lower, stem];
}

/** Of MiniSearch. `name` is that of a function or a type, `heading` that of a section, `title` that of its page; `code` its programs. */
export const indexOptions = {
  fields: ['name', 'heading', 'title', 'text', 'code'],
  storeFields: ['label', 'heading', 'title', 'excerpt', 'url', 'part', 'chinese', 'weight'],
  tokenize: wordsOf,
  processTerm: bothOf,
};

/** Other words for what a reader may ask for. A page with one of the second is found by the first, if less. */
const others = {
  quantize: 'int8 int4 format',
  quantise: 'int8 int4 format',
  quantization: 'int8 int4 format',
  rope: 'rotary',
  mha: 'multiHeadAttention',
  finetune: 'fine-tuning lora',
  adapter: 'lora',
  rag: 'embed search',
  conversation: 'chat',
  cdn: 'bundlers',
  edge: 'cloudflare',
  interpretability: 'microscope circuit',
  multithreading: 'threads',
  注意力: 'attention',
  多头: 'multiHeadAttention',
  聊天: 'chat',
  对话: 'chat',
  量化: 'int8 int4 format',
  缓存: 'cache',
  掩码: 'mask',
  微调: 'fine-tuning lora',
  训练: 'training',
  位置: 'position',
  语言模型: 'language model',
  搜索: 'search',
  电路: 'circuit',
  线程: 'threads',
};
const othersOf = new Map(
  Object.entries(others).flatMap(([word, more]) => [
    [word, more],
    [stemOf(word), more],
  ]),
);

/** A word of the question, or, for less, one of the others for it. */
function orOthers(word) {
  const more = othersOf.get(word) ?? othersOf.get(stemOf(word));
  if (!more) return word;
  const less = { name: 2, heading: 2, title: 3, text: 0.5, code: 0.1 };
  return {
    combineWith: 'OR',
    queries: [word, { queries: [more], combineWith: 'OR', boost: less }],
  };
}

/** A question for MiniSearch: all of its words, or some. */
export const queryOf = (question, combineWith) => ({
  combineWith,
  queries: (question.match(/\p{Script=Han}+|[^\s\p{Script=Han}]+/gu) ?? []).map(orOthers),
});
