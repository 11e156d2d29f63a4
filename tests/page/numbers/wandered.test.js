// Panels in Node, led through states at random, the same every time. In each a panel shows what another one shows that was
// there from the beginning: what was before leaves no trace.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { full, leaveToFullRun } from '../../support/js/full.js';
import { differences, seenOf } from '../support/operate.js';
import { randomOf } from '../support/random.js';
import { empty, rest, viewOf, web } from '../support/scene.js';

/** States of each panel; an everyday run tries the first of them. */
const STATES = 16;
const EVERYDAY = 1;
if (!full) leaveToFullRun(`${STATES - EVERYDAY} of ${STATES} states at random of each panel`);
/** Panels that work something out for most states, which takes a second. */
const slow = ['scale', 'temperature'];
const countOf = (id) => (full ? (slow.includes(id) ? STATES / 2 : STATES) : EVERYDAY);

/** Whole numbers below n. */
function diceOf(seed) {
  const random = randomOf(seed);
  return (n) => Math.floor(random() * n);
}

/** What a link says of fields that are neither numbers between limits nor one of a few values, and what takes little time of the others. */
const SAID = {
  text: [
    'a b',
    'The cat sat on the mat because it was tired.',
    '猫坐在垫子上',
    'aaa',
    '',
    'x  y😀',
  ],
  length: ['1', '2', '5', '12', '40'],
  query: ['0', '1', '3', '40'],
  numbers: [
    '1,2,3,4;0.5,-0.25,1,1;1,0,0,1',
    '0,0;0,0;1,1',
    '1,2;3,4;5,6',
    '9,-9,9,-9;1,1,1,1;0,1,2,3',
  ],
  maskPaint: ['8', 'f0', '0123456789abcdef'.repeat(4), '0'.repeat(64)],
  blockContext: ['a b', 'The dog sleeps.'],
  blockDate: ['3 May 2001', '?'],
  blockRow: ['2,4,-1,0,3,4', '1,1,1,1,1,1'],
  blockDepth: ['1', '2', '12', '24'],
  recurrenceSource: ['7', '0123', '3141592653'],
  learnText: ['a b', 'aaaa bbbb'],
  modelOut: ['', '0.3,2.1', '3.3'],
  modelHead: ['0.1', '9.9'],
  modelAddress: ['https://example.com/a.gguf', 'a b'],
  microscopeClean: ['When Mary and John went', ' '],
  microscopeCorrupt: ['When John and Mary went', 'a'],
  microscopeHeads: ['0.3', '1.2,0.0', '99.99'],
  microscopeEdges: ['0.3.4.1', '1.1.2.3,0.0.1.0'],
  microscopeZoom: ['1', '0.3', '9', '1.9'],
  wordsText: ['a b\nb c', 'one', ' ', '1\n2\n3\n4\n5\n6'],
  wordsTerm: ['b', 'none'],
  wordsNear: ['king', 'catlike', ' '],
  wordsOther: ['queen', 'zzz', ' '],
  wordsPlane: ['a b c', 'man>woman king>queen', 'zzz', ' '],
  wordsContext: ['is', ' '],
  wordsFirst: ['This is', ' '],
  wordsSecond: ['It is so', 'none'],
  wordsAnalogy: ['cold hot big', 'a  b', ' '],
  simplexScores: ['2,1,0', '0,0,0', '-5,5,0.25'],
  simplexPoint: ['334,333', '0,1000', '1000,0', '250,250'],
  fragilityScores: ['2,1.95,1,0.5,0', '0,0,0,0,0', '5,-5,1,1,1'],
  costShape: [
    '11-64-6-3-16-0-1-0-0-4-c',
    '1024-768-12-12-64-3072-12-50257-1024-2-c',
    '1-1-1-1-1-0-1-0-0-1-',
  ],
  costResult: ['', '1.1.2_64.12340.5678.32832.53440.900'],
  modelFile: ['', 'own.gguf'],
  learnWidth: ['16', '32'],
  learnLayers: ['1', '2'],
  learnHeads: ['1', '2'],
};

/** What a link could say of a field. */
function rawOf(name, { options, limits, write }, dice) {
  if (SAID[name]) return SAID[name][dice(SAID[name].length)];
  if (options) return write(options[dice(options.length)]);
  const [low, high] = limits;
  const values = [low, high, low + 1, low + dice(6), low + ((high - low) * dice(1000)) / 1000];
  return String(values[dice(values.length)]);
}

/** The next state: in two fields of the panel and often one of the page it is another one than this. */
function wander(state, own, shared, dice) {
  const next = { ...state };
  const change = (names) => {
    if (names.length === 0) return;
    const name = names[dice(names.length)];
    const field = web.FIELDS[name];
    const value = dice(5) === 0 ? field.initial : field.read(rawOf(name, field, dice));
    if (value !== undefined) next[name] = value;
  };
  change(own);
  change(own);
  if (dice(2) > 0) change(shared);
  return next;
}

/** Fields of the whole page. */
const shared = Object.keys(web.PAGE_FIELDS).filter((name) => name !== 'controls');

let shows = 0;
/** An element alone on its page, and what it shows in a state. */
async function put(element) {
  const panel = document.createElement(element);
  empty();
  document.body.append(panel);
  await rest();
  return async (state) => {
    panel.update(await viewOf(element, { shows: ++shows }, state, 1));
    await rest();
    return seenOf(panel);
  };
}

for (const [i, id] of web.PANEL_IDS.entries()) {
  test(`${id}: in any state it shows what this state has, whatever was before`, async () => {
    const element = `qkv-panel-${id}`;
    const dice = diceOf(1000 + i);
    const own = Object.keys(web.FEATURES[id].fields);
    const states = [];
    const asked = countOf(id);
    for (let state = web.initialState('en'); states.length < asked; states.push(state)) {
      state = wander(state, own, shared, dice);
    }
    const alone = [];
    for (const state of states) alone.push(await (await put(element))(state));
    const show = await put(element);
    for (const [step, state] of states.entries()) {
      const otherwise = differences(alone[step], await show(state));
      assert.equal(otherwise.join('\n'), '', decodeURIComponent(web.formatFragment(state)));
    }
  });
}
