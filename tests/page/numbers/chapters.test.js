// The chapters of the page, in Node: each panel has its place in one of them, a link opens the laboratory that it leads into, and ribbons
// are as wide as weights.
import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import { openWindow } from '../support/window.js';
import { textsOf } from '../support/texts.js';

const { leave } = openWindow();
const { modules } = await import('../support/engine.js');
const web = await modules(
  ...['chapters/index', 'features/index', 'app/laboratories', 'app/ribbons', 'state/state'],
  'features/pictures/panel',
  'features/pictures/page/split',
);
const { CHAPTERS, CHAPTER_IDS, PANEL_IDS, withPlaceOpen, foldLaboratories } = web;
const { formatFragment, initialState, parseFragment, drawRibbons } = web;
afterEach(leave);

test('chapters: every panel is in one of them, in the order of the page', () => {
  const all = Object.values(CHAPTERS).flatMap(({ shown, laboratory }) => [...shown, ...laboratory]);
  assert.deepEqual(all, PANEL_IDS);
  for (const { see = [] } of Object.values(CHAPTERS)) {
    for (const id of see) assert.ok(PANEL_IDS.includes(id), id);
  }
});

test('chapters: each asks a question, answers it in a few sentences and has something to try', () => {
  for (const language of ['en', 'zh']) {
    const texts = textsOf(language);
    for (const id of CHAPTER_IDS) {
      const of = (what) => texts[`chapters.${id}.${what}`];
      assert.match(of('question'), /[?？]$/, id);
      const sentences = of('text').match(/[.?。？](?=\s|$|[^\d\s.])/g) ?? [];
      assert.ok(sentences.length >= 2 && sentences.length <= 6, `${id}: ${sentences.length}`);
      assert.ok(of('act') && of('name'), id);
    }
  }
});

describe('chapters: in a link', () => {
  const read = (fragment) => withPlaceOpen(parseFragment(fragment, 'en'));

  test('open laboratories are named, in the order of the page; what is unknown is nothing', () => {
    const opened = (raw) => parseFragment(`#v=1&o=${raw}`, 'en').opened;
    assert.deepEqual(opened('cost.qkv'), ['qkv', 'cost']);
    assert.deepEqual(['none', '', '.'].map(opened), [null, null, null]);
    const said = formatFragment({ ...initialState('en'), opened: ['masks', 'cost'] });
    assert.match(said, /&o=masks\.cost$/);
    assert.doesNotMatch(formatFragment(initialState('en')), /[&#]o=/);
  });

  test('of any version a panel is led to, and seen', () => {
    for (const [fragment, panel, opened] of [
      ['#masks', 'masks', ['masks']],
      ['#v=1&p=temperature&tau=2', 'temperature', ['scores']],
      ['#v=1&p=pair&o=cost', 'pair', ['qkv', 'cost']],
      ['#learn', 'learn', null],
      ['#chapter-cost', 'chapter-cost', null],
      ['#v=1&lang=zh&p=chapter-words', 'chapter-words', null],
      ['#v=1&tau=2', null, null],
    ]) {
      const state = read(fragment);
      assert.deepEqual([state.panel, state.opened], [panel, opened], fragment);
    }
  });
});

test('chapters: the panels of open laboratories are shown, and no others', () => {
  document.body.innerHTML =
    '<button data-opens="scores" aria-expanded="false"></button>' +
    PANEL_IDS.map((id) => `<section id="${id}"></section>`).join('');
  const folded = () => [...document.querySelectorAll('.folded')].map(({ id }) => id);
  const isOpen = () => document.querySelector('button').getAttribute('aria-expanded');
  const closed = Object.values(CHAPTERS).flatMap(({ laboratory }) => laboratory);
  foldLaboratories([]);
  assert.deepEqual([folded(), isOpen()], [closed, 'false']);
  foldLaboratories(['scores', 'masks']);
  const open = [...CHAPTERS.scores.laboratory, ...CHAPTERS.masks.laboratory];
  assert.deepEqual([folded(), isOpen()], [closed.filter((id) => !open.includes(id)), 'true']);
});

test('ribbons: one for each weight that can be seen, as wide as it', () => {
  document.body.innerHTML = '<div><svg></svg><i></i><i></i><i></i></div>';
  const svg = document.querySelector('svg');
  const words = [...document.querySelectorAll('i')];
  const widths = (weights, query = 1) => {
    drawRibbons(svg, words, query, weights);
    return [...svg.querySelectorAll('path')].map((path) => +path.getAttribute('stroke-width'));
  };
  assert.deepEqual(widths([0.75, 0.25, 0]), [9, 3]);
  assert.deepEqual(widths([1, 0.002, 0.008]), [12]);
  assert.deepEqual([widths(null), widths([1], -1)], [[], []]);
});

test('chapters: the heads are drawn as wide as their numbers are many', () => {
  const model = { info: { dModel: 96, numHeads: 4, dK: 24 } };
  const of = (source, trainedHeads = null) =>
    web.widthsOf({ heads: { source, trainedHeads }, model });
  assert.deepEqual(of('constructed'), { dModel: 64, heads: 6, dK: 16 });
  assert.equal(of('yours'), null);
  for (const widths of [
    of('constructed'),
    of('random'),
    of('trained', { layers: 2, perLayer: 4 }),
  ]) {
    const { dModel, heads, dK } = widths;
    const drawn = [
      ...web
        .drawSplit(widths, 1)
        .matchAll(/class="split-(\w+)" x="([^"]+)" y="[^"]+" width="([^"]+)"/g),
    ];
    const bars = drawn.map(([, kind, x, width]) => ({ kind, x: Number(x), width: Number(width) }));
    const [{ width: whole }] = bars;
    assert.deepEqual(
      bars.map(({ kind }) => kind === 'x'),
      [true, ...Array(2 * heads).fill(false), true],
    );
    const strips = bars.slice(1, 1 + heads);
    strips.forEach(({ kind, x, width }, head) => {
      assert.equal(kind, head === 1 ? 'chosen' : 'head');
      assert.ok(Math.abs(width / whole - dK / dModel) < 1e-9);
      assert.ok(Math.abs(x - strips[0].x - head * width) < 1e-6 && x >= 0 && x + width <= 340);
    });
  }
});

test('chapters: the chosen head is the one that the map shows, also where the state names one that is not there', () => {
  const picture = document.createElement('qkv-picture-heads');
  document.body.append(picture);
  let look = 0;
  const chosen = (source, head, trainedHeads = null) => {
    const model = { info: trainedHeads && { dModel: 96, numHeads: trainedHeads.perLayer, dK: 24 } };
    const state = { ...initialState('en'), source, head };
    const view = { state, model, heads: { source, trainedHeads }, report: null, list: { tokens: ['a', 'b'] } };
    picture.update({ ...view, look: ++look });
    const pressed = [...picture.querySelectorAll('[data-head]')].filter((button) => button.getAttribute('aria-pressed') === 'true');
    const strips = [...picture.querySelectorAll('.split-head, .split-chosen')];
    return [
      pressed.map(({ dataset }) => Number(dataset.head)),
      strips.slice(0, strips.length / 2).findIndex((strip) => strip.classList.contains('split-chosen')),
    ];
  };
  assert.deepEqual(chosen('constructed', 5), [[5], 5]);
  assert.deepEqual(chosen('random', 5), [[3], 3], 'as the frame has it: the last');
  assert.deepEqual(chosen('trained', 6, { layers: 2, perLayer: 4 }), [[6], 2]);
  assert.deepEqual(chosen('trained', 40, { layers: 2, perLayer: 4 }), [[7], 3]);
}); // prettier-ignore

test('chapters: a word too long for its box is cut between characters, and says so', () => {
  const picture = document.createElement('qkv-picture-before');
  document.body.append(picture);
  picture.update({ list: { tokens: ['sentence', 'sentences', 'abcdef𝒜𝒜𝒜'] }, look: 1 });
  const words = [...picture.querySelectorAll('text')].map(({ textContent }) => textContent);
  assert.deepEqual(words.slice(0, 3), ['sentence', 'sentenc…', 'abcdef𝒜…']);
  picture.update({ list: { tokens: ['one'] }, look: 1 });
  assert.match(picture.querySelector('.picture-caption').textContent, /the number of steps .* is 1\. Below/);
}); // prettier-ignore
