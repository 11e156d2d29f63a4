// Links that people have, of every released version, in Node: each leads to the very state that it led to when it was made, whatever
// the page begins with by now. Nothing here may be changed when a test fails: only links of a new version may be added.
import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import { modules } from '../support/engine.js';

const web = await modules('state/state');
const { FIELDS, formatFragment, initialState, parseFragment, readFragment } = web;

const TEXT = {
  en: 'The cat sat on the mat because it was tired.',
  zh: '猫坐在垫子上，因为它累了。',
};

/** All that a link of release 0.1 and 0.2 means that says nothing. */
const V1 = {
  ...{ language: 'en', panel: null, text: TEXT.en, tokenizer: 'word', length: null },
  ...{ source: 'constructed', positions: 'sinusoidal', mask: 'causal', temperature: 1, seed: 7 },
  query: null,
  numbers: {
    q: [0.1, 0.2, 0.3, 0.4, 0.5, 0.6],
    k: [0.7, 0.8, 0.9, 1, 1.1, 1.2],
    v: [1.3, 1.4, 1.5, 1.6, 1.7, 1.8],
  },
  ...{ controls: true, head: 0, other: null, show: 'weights', look: 'map', order: 'number' },
  ...{ pairKey: null, rowQuery: 0, rowMasked: 0, rowScale: null, rowMax: true },
  ...{ curves: true, scores: 'random', gain: 2, width: 64, divided: false, sample: 1 },
  ...{ scaleAsk: false, maskKind: 'causal', maskSize: 3, maskPaint: 'f'.repeat(64) },
  ...{ maskShuffle: 0, masksAsk: false, shift: 5, position: 10, pair: 4, layout: 'interleaved' },
  ...{ scheme: 'sinusoidal', rotaryQ: 12, rotaryK: 5, positionsAsk: false, blockNorm: 'pre' },
  ...{ blockType: 'layer', blockTap: 'sum1', blockContext: '', blockDepth: 12 },
  ...{ blockRule: 'glorot', blockSeed: 1, recurrenceSource: '314159265358979' },
  ...{ recurrenceSeed: 1, recurrenceHead: 1, learnTask: 'induction', learnSeed: 1 },
  ...{ learnSpeed: '25', learnLayers: null, learnHeads: null, learnWidth: null },
  ...{ learnPositions: null, learnCausal: null, learnNorm: 'pre', learnTemperature: 1 },
  ...{ learnSamples: null, learnText: null, learnCompare: false, learnExperiment: null },
  ...{ learnMap: null, model: null, modelAt: null, modelTemperature: 0.8, modelTopK: 0 },
  ...{ modelTopP: 1, modelSeed: 1, modelSlow: true, modelOut: [], modelOrder: 'layer' },
  modelNear: null,
  costShape: {
    ...{ tokens: 1024, dModel: 768, numHeads: 12, numKvHeads: 12, dK: 64, dFeedForward: 3072 },
    ...{ layers: 12, vocabulary: 50257, tables: 1, bytes: 2, gated: false, causal: true },
  },
  costResult: null,
};
const zh = { language: 'zh', text: TEXT.zh };

/** Links, and what of the state of version 1 each changes. */
const LINKS = [
  ['#v=1', {}],
  ['#v=1&lang=en', {}],
  ['#v=1&lang=zh', zh],
  ['#v=1&lang=en&p=map&src=random&seed=11', { panel: 'map', source: 'random', seed: 11 }],
  ['#v=1&lang=en&d=1024&div=1', { width: 1024, divided: true }],
  ['#v=1&lang=en&p=scale&d=16&da=1&draw=3', { panel: 'scale', width: 16, scaleAsk: true, sample: 3 }],
  ['#v=1&lang=en&x=one+two+three&h=2&q=1', { text: 'one two three', head: 2, query: 1 }],
  ['#v=1&lang=zh&x=%E7%8C%AB+cat&tok=byte&T=12', { ...zh, text: '猫 cat', tokenizer: 'byte', length: 12 }],
  ['#v=1&lang=en&mask=window&tau=0.25&show=log&h=4', { mask: 'window', temperature: 0.25, show: 'log', head: 4 }],
  ['#v=1&lang=en&src=random&pe=none&minus=1&look=arcs&sort=entropy', { source: 'random', positions: 'none', other: 1, look: 'arcs', order: 'entropy' }],
  ['#v=1&lang=en&src=yours&n=1%2C2%3B3%2C4%3B5%2C6&rq=1&rm=1&rs=0&rmax=0', { source: 'yours', numbers: { q: [1, 2], k: [3, 4], v: [5, 6] }, rowQuery: 1, rowMasked: 1, rowScale: 0, rowMax: false }],
  ['#v=1&lang=en&controls=0&pk=3', { controls: false, pairKey: 3 }],
  ['#v=1&lang=en&p=temperature&ts=row&curves=0&gc=4', { panel: 'temperature', scores: 'row', curves: false, gain: 4 }],
  ['#v=1&lang=en&p=masks&mk=window&ms=5&mo=9&ma=1', { panel: 'masks', maskKind: 'window', maskSize: 5, maskShuffle: 9, masksAsk: true }],
  ['#v=1&lang=zh&p=positions&ps=rotary&pm=40&pn=8&k=7&pp=20&pi=2&pl=concatenated&pa=1', { ...zh, panel: 'positions', scheme: 'rotary', rotaryQ: 40, rotaryK: 8, shift: 7, position: 20, pair: 2, layout: 'concatenated', positionsAsk: true }],
  ['#v=1&lang=en&p=block&bn=post&by=rms&bt=hidden&bx=a+b&bl=24&br=scaled&bs=6', { panel: 'block', blockNorm: 'post', blockType: 'rms', blockTap: 'hidden', blockContext: 'a b', blockDepth: 24, blockRule: 'scaled', blockSeed: 6 }],
  ['#v=1&lang=en&p=recurrence&rcx=0123&rcs=9&rch=0', { panel: 'recurrence', recurrenceSource: '0123', recurrenceSeed: 9, recurrenceHead: 0 }],
  ['#v=1&lang=en&p=learn&lt=addition&ls=0&lv=full&ll=3&lh=8&ld=16&lp=none&lc=0&ln=post&lta=0.25&lf=64&lk=1&le=leak&lm=9', { panel: 'learn', learnTask: 'addition', learnSeed: 0, learnSpeed: 'full', learnLayers: 3, learnHeads: 8, learnWidth: 16, learnPositions: 'none', learnCausal: false, learnNorm: 'post', learnTemperature: 0.25, learnSamples: 64, learnCompare: true, learnExperiment: 'leak', learnMap: 9 }],
  ['#v=1&lang=en&lt=characters&lx=to+be', { learnTask: "characters", learnText: 'to be' }],
  ['#v=1&lang=zh&p=model&src=trained&h=11&lmw=tang&lmat=2&lmt=1.25&lmk=40&lmp=0.9&lms=7&lmslow=0&lmo=0.3%2C2.1&lmsort=induction&lmn=0', { ...zh, panel: 'model', source: 'trained', head: 11, model: 'tang', modelAt: 2, modelTemperature: 1.25, modelTopK: 40, modelTopP: 0.9, modelSeed: 7, modelSlow: false, modelOut: [[0, 3], [2, 1]], modelOrder: 'induction', modelNear: 0 }],
  ['#v=1&lang=en&p=cost&cs=11-64-6-3-16-0-1-0-0-4-c', { panel: 'cost', costShape: { tokens: 11, dModel: 64, numHeads: 6, numKvHeads: 3, dK: 16, dFeedForward: 0, layers: 1, vocabulary: 0, tables: 0, bytes: 4, gated: false, causal: true } }],
  // Of a lesson, whose steps say their states in this way.
  ['#v=1&lang=en&lesson=scale&step=2', {}],
]; // prettier-ignore

/** What was added to the state since: nothing, where an old link cannot know it. */
const ADDED = Object.fromEntries(
  Object.keys(FIELDS)
    .filter((name) => !(name in V1))
    .map((name) => [name, null]),
);

const initials = new Map(Object.entries(FIELDS).map(([name, { initial }]) => [name, initial]));
afterEach(() => {
  for (const [name, initial] of initials) FIELDS[name].initial = initial;
});

describe('old links: each leads where it led', () => {
  for (const [link, changes] of LINKS) {
    test(link.slice(0, 60), () => {
      for (const language of ['en', 'zh']) {
        const own = /lang=/.test(link) ? {} : { language, text: TEXT[language] };
        const { state, problem } = readFragment(link, language);
        assert.deepEqual(state, { ...V1, ...ADDED, ...own, ...changes });
        assert.equal(problem, null);
      }
    });
  }
});

describe('old links: when the page begins with something else', () => {
  test('they mean what they meant, and new links say what is new', () => {
    for (const [name, value] of [
      ['seed', 99],
      ['mask', 'none'],
      ['rowMax', false],
      ['learnTask', 'reverse'],
      ['modelTemperature', 1.5],
    ]) {
      const { key } = FIELDS[name];
      FIELDS[name].initial = value;
      for (const [link, changes] of LINKS.slice(0, 8)) {
        const { language, text } = parseFragment(link, 'en');
        assert.deepEqual(parseFragment(link, 'en'), {
          ...V1,
          ...ADDED,
          language,
          text,
          ...changes,
        });
      }
      assert.equal(parseFragment('', 'en')[name], value, 'a page without a link begins as it does');
      const link = formatFragment(initialState('en'));
      assert.ok(new URLSearchParams(link.slice(1)).has(key), link);
      assert.equal(parseFragment(link, 'en')[name], value);
    }
  });

  test('every part that is not null has a frozen default', () => {
    for (const [name, field] of Object.entries(FIELDS)) {
      if (['language', 'text'].includes(name)) continue;
      const before = field.initial;
      field.initial = 'sentinel';
      const frozen = parseFragment('#v=1', 'en')[name] !== 'sentinel';
      field.initial = before;
      const isNothing = before === null || (Array.isArray(before) && before.length === 0);
      assert.ok(frozen || isNothing, `${name} (${field.key}) is missing in state/defaults_v1.ts`);
    }
  });

  test('a link always says its text, and the texts that links do not say are what they were', async () => {
    for (const language of ['en', 'zh']) {
      const said = new URLSearchParams(formatFragment(initialState(language)).slice(1));
      assert.equal(said.get('x'), initialState(language).text);
    }
    // Null means the page's own text of the task; who changes that has the field say `lx` for the old one first.
    const { textsOf } = await import('../support/texts.js');
    const [en, chinese] = ['en', 'zh'].map((language) => textsOf(language)['learn.text.own']);
    assert.match(
      en,
      /^It is a truth universally acknowledged, .* some one or other of their daughters\.$/,
    );
    assert.match(chinese, /^山不在高，有仙则名。.*孔子云：何陋之有？$/);
  });
});

describe('links that the page does not understand', () => {
  const problem = (link) => readFragment(link, 'en').problem;
  test('of another version lead to the first state and say so', () => {
    for (const [link, version] of [
      ['#v=2&x=Hello+world', '2'],
      ['#v=0&seed=3', '0'],
      ['#v=constructor&seed=3', 'constructor'],
      ['#seed=99', ''],
      ['#v=&seed=99', ''],
    ]) {
      assert.deepEqual(readFragment(link, 'en'), {
        state: initialState('en'),
        problem: { kind: 'version', version },
      });
    }
  });

  test('in part say which part', () => {
    assert.deepEqual(problem('#v=1&src=quantum&seed=3&zz=1&tau=x'), {
      kind: 'unread',
      parts: ['src=quantum', 'tau=x', 'zz=1'],
    });
    assert.equal(readFragment('#v=1&src=quantum&seed=3', 'en').state.seed, 3);
  });

  test('have no problem where there is none: nothing said, a panel, an anchor, numbers beyond limits, a lesson', () => {
    for (const link of [
      '',
      '#',
      '#learn',
      '#text',
      '#v=1',
      '#v=1&T=1000000&q=',
      '#v=1&lang=en&L=abc&step=2',
    ]) {
      assert.equal(problem(link), null, link);
    }
  });
});
