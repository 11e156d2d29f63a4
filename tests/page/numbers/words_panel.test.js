// The panel on words in a window without a browser: how its vectors come, what it says where there are none, and what it gives away.
import assert from 'node:assert/strict';
import { afterEach, before, mock, test } from 'node:test';
import { read } from '../../support/js/files.js';
import { until } from '../../support/js/patience.js';
import { enter } from '../support/operate.js';
import { openWindow } from '../support/window.js';

const { rest, leave, workers } = openWindow();
const { modules, packageModule } = await import('../support/engine.js');
const spectra = await (await packageModule('spectra')).init();
const web = await modules(
  ...[
    'features/words/panel',
    'features/words/page/word_source',
    'features/model/shared/model_view',
    'state/state',
    'engine/principal_plane',
  ],
);
const info = { id: 1, file: 'austen.safetensors' };
const bytes = read('models/words/words.safetensors');
afterEach(() => {
  mock.restoreAll();
  web.setLanguage('en');
  leave();
});

/** What the server answers. */
let answer = () => Promise.resolve(new Response(bytes));
before(() => (globalThis.fetch = () => answer()));

/** The worker of the panel says where words are, as features/words/worker/serve.ts does. */
function answerPlanes() {
  for (const worker of workers) {
    for (const asked of worker.heard.splice(0).filter(({ key }) => key)) {
      const principal = web.principalPlane(spectra, asked.data, asked.width);
      worker.say({ type: 'plane', key: asked.key, principal });
    }
  }
}

/** A panel in this state of the page; `show` another one. */
async function open(patch = {}, language = 'en', model = web.NO_MODEL) {
  web.setLanguage(language);
  const panel = document.createElement('qkv-panel-words');
  let state = { ...web.initialState(language), ...patch };
  let look = 1;
  const update = (more = {}) => {
    state = { ...state, ...more };
    panel.update(view());
  };
  const asked = [];
  panel.addEventListener('model-tell', ({ detail }) => asked.push(detail));
  const view = () => ({ state, look, model });
  const know = (more) => ((model = { ...model, ...more }), update());
  panel.addEventListener('state-change', ({ detail }) => update(detail));
  document.body.append(panel);
  update();
  await rest();
  answerPlanes();
  await rest();
  const all = (selector) => [...panel.querySelectorAll(selector)];
  const text = (selector) => panel.querySelector(selector).textContent;
  return {
    panel,
    update,
    all,
    text,
    view,
    asked,
    know,
    state: () => state,
    again: () => (look += 1),
  };
}

// First: the words are fetched once for all panels of a page.
test('words: a file that does not come is said, as is another one, and the button tries again', async () => {
  answer = () => Promise.resolve(new Response('', { status: 404 }));
  const { panel, text, all, again, update } = await open();
  const waiting = () => text('.words-waiting p');
  const retry = all('[data-press=retry]')[0];
  const isLearned = () => !all('.words-learned')[0].hidden;
  await until(() => /This part needs its vectors\. A file/.test(waiting()));
  assert.deepEqual([retry.hidden, isLearned()], [false, false]);
  assert.match(text('.words-counts'), /kitten/, 'what needs no file is there');

  const other = Uint8Array.from(bytes);
  other[300_000] ^= 1;
  answer = () => Promise.resolve(new Response(other));
  retry.click();
  again();
  update();
  assert.equal(waiting(), 'The vectors are on their way (558 kB) …');
  assert.ok(retry.hidden);
  await until(() => /its hash differs/.test(waiting()));
  assert.equal(web.knownWords(), null);

  answer = () => Promise.resolve(new Response(bytes));
  retry.click();
  await until(isLearned);
  assert.ok(panel.querySelector('.words-waiting').hidden);
  assert.match(text('.words-list'), /^dog0\.879rabbit/);
  assert.equal(await web.fetchWords(), web.knownWords());
});

test('words: a word that is typed has its neighbours, and one that has no vector has its pieces', async () => {
  const { panel, text, all } = await open();
  const [near] = all('#words-near');
  enter(near, ' King');
  assert.match(text('qkv-words-neighbours .words-list'), /^prince0\.769queen/);
  assert.match(text('.words-cosine'), /^cos\(king, dog\) = 0\.\d{3}$/);
  enter(near, 'unfriendliness');
  const shown = () => [...panel.querySelectorAll('.words-known, .words-unknown, .words-none')];
  assert.deepEqual(
    shown().map(({ className }) => className),
    ['words-unknown'],
  );
  assert.match(text('.words-unknown'), /is not among these 5,000 words/);
  assert.match(text('.words-relatives'), /^friendly \(0\.226\)/);
  assert.equal(all('.words-pieces .token').length, 14 + 13 + 12 + 11);
  enter(near, '');
  assert.deepEqual(
    shown().map(({ className }) => className),
    ['hint words-none'],
  );
});

test('words: an analogy of the reader, with its runner-up and the nearest of all', async () => {
  const { text, all, state } = await open();
  assert.match(text('.words-answer'), /nearest to “queen”, cosine 0\.770\. The runner-up is “daughter”, 0\.658/); // prettier-ignore
  assert.match(text('.words-too'), /the nearest is “king”, cosine 0\.837/);
  all('.words-examples button').at(-1).click();
  assert.equal(state().wordsAnalogy, 'doctor man woman');
  assert.match(text('.words-answer'), /nearest to “nurse”/);
  assert.match(text('.words-score'), /^8 of 11 are right/);
  assert.equal(all('.words-why li').length, 3);
  enter(all('#words-b')[0], 'qqq');
  assert.equal(text('.words-answer'), 'Not among the words: qqq.');
  for (const name of ['a', 'b', 'c']) enter(all(`#words-${name}`)[0], '');
  assert.equal(text('.words-answer'), 'Not among the words: –, –, –.');
});

test('words: TF-IDF is worked out for the chosen word', async () => {
  const { text, all, state } = await open({ wordsText: 'a b a\nb c' });
  assert.equal(text('.words-lines li'), 'D1: 2/3 · ln(2/1) = 0.667 · 0.693 = 0.462');
  assert.match(text('.words-rare'), /“a” is in 1 of 2 documents/);
  enter(all('#words-term')[0], 'b');
  assert.match(text('.words-rare'), /“b” is in every document/);
  all('[data-press=reset]')[0].click();
  assert.deepEqual([state().wordsText, all('.words-counts tbody tr').length], [null, 12]);
  enter(all('#words-text')[0], ' ');
  assert.equal(state().wordsText, '');
  assert.equal(
    all('.words-counted, .words-empty')
      .map(({ className }) => className)
      .join(),
    'words-empty',
  );
});

test('words: in Chinese words have their meanings', async () => {
  const { text } = await open({}, 'zh');
  assert.match(text('.words-answer'), /“queen 女王”/);
  assert.match(text('qkv-words-neighbours .words-list'), /dog 狗/);
});

test('words: a link keeps what was emptied, and says nothing of what nobody touched', async () => {
  const { state, all } = await open();
  assert.ok(!web.formatFragment(state()).includes('wd'));
  enter(all('#words-plane')[0], '');
  const back = web.parseFragment(web.formatFragment(state()), 'en');
  assert.deepEqual([back.wordsPlane, back.wordsText], ['', null]);
});

test('words: the figure has every number that it shows', async () => {
  const { panel, view } = await open({ wordsNear: 'king' });
  const { svg, table, data } = await panel.figure(view());
  assert.equal(table.length, 1 + 23 + 8 + 2 * 11);
  assert.deepEqual(data.neighbours[0].word, 'prince');
  assert.ok(svg.body.includes('king − man + woman ≈ queen 0.770'));
  assert.ok(!/class=|NaN/.test(svg.body), 'a file has colours of its own');
});

test('words: the plane comes from a worker, once for a list, or a sentence why not', async () => {
  const { text, all, update } = await open();
  const [worker] = workers.slice(-1);
  assert.match(text('.words-shares'), /% of the differences/);
  update({ wordsPlane: 'cat dog' });
  assert.match(text('.words-shares'), /at least three words/);
  assert.deepEqual(worker.heard, []);
  update({ wordsPlane: 'cat dog cow' });
  update({ wordsPlane: 'cat dog cow zzzz' });
  assert.deepEqual(worker.heard.map(({ key, width, data }) => [key, width, data.length]), [['cat dog cow', 100, 300]]); // prettier-ignore
  assert.equal(text('.words-shares'), '');
  worker.say({ type: 'plane', key: 'king queen', principal: { points: [], shares: [1, 0] } });
  assert.equal(text('.words-shares'), '', 'what was asked for before');
  answerPlanes();
  assert.match(text('.words-shares'), /of these 3 words/);
  update({ wordsPlane: 'cat dog horse' });
  worker.say({ type: 'failed', failure: { code: 'load_failed', message: 'x' } });
  assert.ok(all('.words-failed').some((each) => each.textContent.length > 10));
  const [retry] = all('[data-press=retry-plane]');
  assert.equal(retry.parentElement.hidden, false);
  retry.click();
  await rest();
  assert.deepEqual(workers.at(-1).heard.map(({ key }) => key).filter(Boolean), ['cat dog horse']); // prettier-ignore
  answerPlanes();
  assert.match(text('.words-shares'), /of these 3 words/);
  assert.ok(retry.parentElement.hidden);
  assert.equal(document.activeElement?.id, 'words-plane');
});

test('words: what is left out of long lists is said', async () => {
  const { update, text, all, panel } = await open();
  const [cut] = all('.words-cut');
  assert.deepEqual([cut.hidden, text('.words-plane-cut')], [true, '']);
  update({ wordsText: '1\n2\n3\n4\n5' });
  assert.ok(cut.hidden);
  update({ wordsText: '1\n2\n3\n4\n5\n6' });
  assert.deepEqual([cut.hidden, cut.textContent], [false, 'The first 5 documents are counted.']);
  const commonest = web.knownWords().words.slice(0, 41);
  update({ wordsPlane: commonest.slice(1).join(' ') });
  assert.equal(text('.words-plane-cut'), '');
  update({ wordsPlane: commonest.join(' ') });
  answerPlanes();
  assert.match(text('.words-shares'), /of these 40 words/);
  assert.equal(text('.words-plane-cut'), 'The first 40 of these words are drawn.');
  assert.match(panel.querySelector('.words-vector').textContent, /^Each row has the 100 numbers of a word\./);
}); // prettier-ignore

test('words: a word in two contexts is asked of the model that is there, or one is loaded', async () => {
  const { text, all, asked, know, update } = await open();
  const [load] = all('.words-load');
  const said = () => text('.words-said');
  assert.deepEqual([said(), load.hidden], ['No trained model is loaded yet.', false]);
  load.querySelector('button').click();
  assert.deepEqual([asked[0].kind, asked[0].files.name], ['load', 'austen']);
  know({ loading: { what: 'austen', loaded: 1, total: 2 } });
  assert.match(said(), /is loading/);
  know({ loading: null, info });
  update();
  assert.ok(load.hidden);
  const texts = ['I hope that you are well', 'There is no water in the well'];
  const ask = { word: 'well', texts };
  assert.deepEqual(asked.slice(1), [{ kind: 'contexts', ask }], 'once');
  know({ contexts: { ask, labels: ['l', 'l'], cosines: [1, 0.9, 0.25] } });
  assert.match(said(), /The last token of “well” is “l”/);
  assert.match(
    text('qkv-words-contexts .words-list'),
    /^row of the table1\.000after layer 10\.900/,
  );
  assert.match(text('.words-consequence'), /After layer 2, the last, the cosine is 0\.250/);
  know({ contexts: { ask, labels: ['l', 'e'], cosines: [0.5, 0.4, 0.3] } });
  assert.match(said(), /two different tokens/);
  assert.equal(text('.words-consequence'), '');
  know({ contexts: { ask, labels: ['l', null], cosines: [] } });
  assert.match(said(), /^Write two texts that have “well”/);
  enter(all('#words-context')[0], 'hope');
  assert.equal(asked.at(-1).ask.word, 'hope');
});
