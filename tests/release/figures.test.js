// The times that the READMEs name are those that bench/results has.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DECODED, decodeAfter } from '../../bench/models/shapes.js';
import { text } from '../support/js/files.js';

const results = (name) => JSON.parse(text(`bench/results/${name}.json`));

const browser = results('peers').find(({ name }) => name === 'browser');
const attention = browser.results['sdpa causal H12 T1024 d64'].times;

/** A contestant on one thread in Chromium that is not ours. */
const isRival = (who) => /^(wllama|ort-web)/.test(who) && who.endsWith(' 1 thread');

/** Tokens a second with 110 million parameters, of everybody that a word lets through, in every format. */
const speeds = (lets, formats = /^/) =>
  results('models')
    .filter(({ shape, format }) => shape === '110M' && formats.test(format))
    .flatMap(({ times }) =>
      Object.entries(times)
        .filter(([who]) => lets(who))
        .map(([, all]) => (1000 * DECODED) / all[decodeAfter(16)].median),
    );

const figures = {
  attention: attention['qkv relaxed'].median,
  rival: Math.min(
    ...Object.entries(attention)
      .filter(([who]) => !who.startsWith('qkv') && !/[2-9] threads/.test(who))
      .map(([, { median }]) => median),
  ),
  tokens: Math.max(...speeds((who) => who === 'qkv relaxed 1 thread', /^Q8_0$/)),
  rivalTokens: Math.max(...speeds(isRival)),
};

const sentences = {
  'README.md': {
    attention: /takes (\d+) ms on one thread in Chromium/,
    rival: /and (\d+) ms in the fastest of the three/,
    tokens: /generates (\d+) tokens a second on one thread/,
    rivalTokens: /and (\d+) in the fastest format of/,
  },
  'README.zh-CN.md': {
    attention: /单线程用时 (\d+) ms/,
    rival: /最快的要 (\d+) ms/,
    tokens: /每秒生成 (\d+) 个词元/,
    rivalTokens: /用各自最快的格式为 (\d+) 个/,
  },
};

for (const [path, patterns] of Object.entries(sentences)) {
  test(`figures: ${path} names what was measured`, () => {
    // A sentence may run over the end of a line.
    const prose = text(path).replace(/\s+/g, ' ');
    for (const [name, pattern] of Object.entries(patterns)) {
      const [, figure] = pattern.exec(prose) ?? [];
      assert.equal(Number(figure), Math.round(figures[name]), `${name}: ${pattern}`);
    }
  });
}
