// Links, in Node: the words in which a link says each part of the state, and what is made of words beyond the limits.
// Beside it tests/page/links.test.js tries any state, and tests/page/fragment.test.js any link; here it stands which
// links were sent to people and must go on leading where they led.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { modules } from '../support/engine.js';

const { FIELDS, formatFragment, initialState, parseFragment } = await modules('state/state');
const own = { q: [1, 2, 3, 4], k: [0.5, -0.25, 1, 1], v: [1, 0, 0, 1] };

const shape = {
  ...{ tokens: 11, dModel: 64, numHeads: 6, numKvHeads: 3, dK: 16, dFeedForward: 0, layers: 1 },
  ...{ vocabulary: 0, tables: 0, bytes: 4, gated: false, causal: true },
};
const times = { storedMs: 0.1234, streamingMs: 0.05678, decodeMs: 0.009 };
const row = { tokens: 64, ...times, storedBytes: 32832, streamingBytes: 53440 };
const measured = { variant: 'simd', threads: 1, cores: 2, rows: [row] };

/** The text, which every link says. */
const textSaid = (language) => `x=${initialState(language).text.replaceAll(' ', '+')}`;

/**
 * Parts of the state, a value that is not its default, and how a link says so. A part stands here from the release on that has
 * it: then links with it are out there. The tests of a new panel say how it is said until then.
 */
const PARTS = [
  ['panel', 'masks', 'p=masks'],
  ['text', 'a b', 'x=a+b'],
  ['tokenizer', 'byte', 'tok=byte'],
  ['length', 12, 'T=12'],
  ['source', 'random', 'src=random'],
  ['positions', 'none', 'pe=none'],
  ['mask', 'window', 'mask=window'],
  ['temperature', 0.125, 'tau=0.125'],
  ['seed', 99, 'seed=99'],
  ['query', 0, 'q=0'],
  ['numbers', own, 'n=1,2,3,4;0.5,-0.25,1,1;1,0,0,1'],
  ['controls', false, 'controls=0'],
  ['head', 3, 'h=3'],
  ['other', 0, 'minus=0'],
  ['show', 'log', 'show=log'],
  ['look', 'arcs', 'look=arcs'],
  ['order', 'entropy', 'sort=entropy'],
  ['pairKey', 5, 'pk=5'],
  ['rowQuery', 2, 'rq=2'],
  ['rowMasked', 5, 'rm=5'],
  ['rowScale', 0, 'rs=0'],
  ['rowMax', false, 'rmax=0'],
  ['curves', false, 'curves=0'],
  ['scores', 'row', 'ts=row'],
  ['gain', 0.5, 'gc=0.5'],
  ['width', 256, 'd=256'],
  ['divided', true, 'div=1'],
  ['sample', 7, 'draw=7'],
  ['scaleAsk', true, 'da=1'],
  ['maskKind', 'painted', 'mk=painted'],
  ['maskSize', 5, 'ms=5'],
  ['maskPaint', '0123456789abcdef'.repeat(4), `mp=${'0123456789abcdef'.repeat(4)}`],
  ['maskShuffle', 3, 'mo=3'],
  ['masksAsk', true, 'ma=1'],
  ['shift', 0, 'k=0'],
  ['position', 65536, 'pp=65536'],
  ['pair', 0, 'pi=0'],
  ['layout', 'concatenated', 'pl=concatenated'],
  ['scheme', 't5', 'ps=t5'],
  ['t5Head', 3, 'pt=3'],
  ['xlTerm', 'a', 'px=a'],
  ['rotaryQ', 4096, 'pm=4096'],
  ['rotaryK', 0, 'pn=0'],
  ['positionsAsk', true, 'pa=1'],
  ['positionsSeed', 9, 'psd=9'],
  ['blockNorm', 'post', 'bn=post'],
  ['blockType', 'rms', 'by=rms'],
  ['blockTap', 'hidden', 'bt=hidden'],
  ['blockContext', 'a b', 'bx=a+b'],
  ['blockDate', '3 May 2001', 'bd=3+May+2001'],
  ['blockDepth', 24, 'bl=24'],
  ['blockRule', 'scaled', 'br=scaled'],
  ['blockSeed', 6, 'bs=6'],
  ['recurrenceSource', '0123', 'rcx=0123'],
  ['recurrenceSeed', 9, 'rcs=9'],
  ['recurrenceHead', 0, 'rch=0'],
  ['learnTask', 'addition', 'lt=addition'],
  ['learnSeed', 0, 'ls=0'],
  ['learnSpeed', 'full', 'lv=full'],
  ['learnLayers', 3, 'll=3'],
  ['learnHeads', 8, 'lh=8'],
  ['learnWidth', 16, 'ld=16'],
  ['learnPositions', 'none', 'lp=none'],
  ['learnCausal', false, 'lc=0'],
  ['learnNorm', 'post', 'ln=post'],
  ['learnTemperature', 0.25, 'lta=0.25'],
  ['learnSamples', 64, 'lf=64'],
  ['learnRate', '10', 'lr=10'],
  ['learnBatch', 64, 'lb=64'],
  ['learnDropout', '0.3', 'lo=0.3'],
  ['learnText', 'a b', 'lx=a+b'],
  ['learnCompare', true, 'lk=1'],
  ['learnExperiment', 'leak', 'le=leak'],
  ['learnMap', 9, 'lm=9'],
  ['model', 'tang', 'lmw=tang'],
  ['modelFile', 'my model.gguf', 'lmf=my+model.gguf'],
  ['modelAddress', 'a/b.gguf', 'lma=a/b.gguf'],
  ['modelAt', 0, 'lmat=0'],
  ['modelTemperature', 1.25, 'lmt=1.25'],
  ['modelTopK', 40, 'lmk=40'],
  ['modelTopP', 0.9, 'lmp=0.9'],
  ['modelSeed', 7, 'lms=7'],
  ['modelSlow', false, 'lmslow=0'],
  ['modelOut', [[0, 3], [2, 1]], 'lmo=0.3,2.1'], // prettier-ignore
  ['modelOrder', 'induction', 'lmsort=induction'],
  ['modelNear', 0, 'lmn=0'],
  ['modelHead', [1, 3], 'lmh=1.3'],
  ['modelReads', 'brought', 'lmr=brought'],
  ['costShape', shape, 'cs=11-64-6-3-16-0-1-0-0-4-c'],
  ['costResult', measured, 'cb=1.1.2_64.12340.5678.32832.53440.900'],
];

/** Of every part that is a number the least and the most that a link can say. */
const LIMITS = (
  'length 1 1024, temperature 0.05 20, seed 0 999999, query 0 1023, head 0 4095, other 0 4095, ' +
  'pairKey 0 1023, rowQuery 0 5, rowMasked 0 63, rowScale -10000 10000, gain 0.25 4, width 4 1024, ' +
  'sample 1 9999, maskSize 1 16, maskShuffle 0 999999, shift 0 128, position 0 65536, pair 0 31, t5Head 0 3, ' +
  'rotaryQ 0 4096, rotaryK 0 4096, positionsSeed 0 999999, blockDepth 1 24, blockSeed 1 9999, ' +
  'recurrenceSeed 1 9999, recurrenceHead 0 1, learnSeed 0 999999, learnLayers 1 4, learnHeads 1 8, ' +
  'learnWidth 16 128, learnTemperature 0.1 10, learnSamples 4 512, learnBatch 1 256, ' +
  'learnMap 0 31, modelAt 0 255, modelTemperature 0 3, modelTopK 0 9999, modelTopP 0.01 1, modelSeed 0 999999, modelNear 0 999999'
).split(', ');

test('links: what links were sent with is there, and in the order of the link', () => {
  const names = ['language', ...PARTS.map(([name]) => name)];
  const state = Object.keys(initialState('en'));
  assert.deepEqual(
    state.filter((name) => names.includes(name)),
    names,
  );
});

test('links: every part has a key of its own, in which each of its values is said and read', () => {
  const keys = Object.values(FIELDS).map(({ key }) => key);
  assert.deepEqual([...new Set(keys)], keys);
  let said = 0;
  for (const [name, { initial, options, limits }] of Object.entries(FIELDS)) {
    if (name === 'language') continue;
    for (const value of options ?? limits ?? []) {
      const state = { ...initialState('en'), [name]: value };
      assert.deepEqual(parseFragment(formatFragment(state), 'zh'), state, `${name}: ${value}`);
      said += value === initial ? 0 : 1;
    }
  }
  assert.ok(said > PARTS.length, `${said} values`);
});

describe('links: one part alone', () => {
  for (const [name, value, said] of PARTS) {
    test(`${name} is ${said.slice(0, 40)}`, () => {
      for (const language of ['en', 'zh']) {
        const state = { ...initialState(language), [name]: value };
        const link = formatFragment(state);
        const words = decodeURIComponent(link);
        const parts = { panel: [said, textSaid(language)], text: [said] };
        const all = parts[name] ?? [textSaid(language), said];
        assert.equal(words, `#v=1&lang=${language}&${all.join('&')}`);
        assert.deepEqual(parseFragment(link, 'en'), state);
        assert.deepEqual(parseFragment(link, 'zh'), state);
      }
    });
  }

  test('together they are in the order of the state', () => {
    const all = Object.fromEntries(PARTS);
    const words = decodeURIComponent(formatFragment({ ...initialState('zh'), ...all }));
    assert.equal(words, `#v=1&lang=zh&${PARTS.map(([, , said]) => said).join('&')}`);
  });
});

describe('links: what is missing or means nothing', () => {
  test('has its default, and the sentence is that of the language of the link', () => {
    assert.deepEqual(parseFragment('#v=1&lang=zh', 'en'), initialState('zh'));
    assert.deepEqual(parseFragment('', 'zh'), initialState('zh'));
    assert.deepEqual(
      parseFragment('#v=1&h=x&tau=&mask=all&rmax=yes&n=1,2&lma=+', 'en'),
      initialState('en'),
    );
    assert.equal(decodeURIComponent(formatFragment(initialState('en'))), `#v=1&lang=en&${textSaid('en')}`); // prettier-ignore
  });

  test('is all of a link of another version, or of none', () => {
    for (const link of ['#v=2&seed=99', '#seed=99', '#v=&seed=99']) {
      assert.deepEqual(parseFragment(link, 'en'), initialState('en'));
    }
  });

  test('is nothing in the name of a panel alone', () => {
    assert.deepEqual(parseFragment('#checks', 'en'), { ...initialState('en'), panel: 'checks' });
    assert.deepEqual(parseFragment('#nothing', 'en'), initialState('en'));
  });
});

describe('links: numbers beyond their limits come in', () => {
  for (const [said, name, value] of [
    ['tau=0.12345', 'temperature', 0.123],
    ['tau=12.345', 'temperature', 12.3],
    ['h=1.6', 'head', 2],
    ['rs=0.123456', 'rowScale', 0.1235],
    ['d=100', 'width', 128],
    ['mp=F', 'maskPaint', 'f'.repeat(64)],
    ['mp=0', 'maskPaint', `0${'f'.repeat(63)}`],
  ]) {
    test(said, () => assert.equal(parseFragment(`#v=1&${said}`, 'en')[name], value));
  }

  test('each to the nearest of its two', () => {
    const found = PARTS.filter(([, value]) => typeof value === 'number').map(([name, , said]) => {
      const key = said.slice(0, said.indexOf('='));
      const read = (raw) => parseFragment(`#v=1&${key}=${raw}`, 'en')[name];
      return `${name} ${read('-1e9')} ${read('1e9')}`;
    });
    assert.deepEqual(found, LIMITS);
  });

  test('and so do the numbers of a row', () => {
    const { numbers } = parseFragment('#v=1&n=1e9,-0.00001;0.123456,2;3,4', 'en');
    assert.deepEqual(numbers, { q: [10000, 0], k: [0.1235, 2], v: [3, 4] });
  });
});
