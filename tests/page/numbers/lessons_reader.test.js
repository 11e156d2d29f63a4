// A lesson as it is read, in Node: what each step shows and where, what stays locked or comes back, and what goes to paper.
import assert from 'node:assert/strict';
import { exampleSaid } from '../support/texts.js';
import { afterEach, beforeEach, describe, mock, test } from 'node:test';
import { until } from '../../support/js/patience.js';
import { openWindow } from '../support/window.js';

const { written, rest, leave } = openWindow();
HTMLImageElement.prototype.decode = () => Promise.resolve();
const { modules } = await import('../support/engine.js');
const web = await modules(
  'features/lessons/page/{reader,lesson,locks,print_figures}',
  'state/state',
  'features/panel',
);
const { LessonReader, Locks, Panel, readLesson, initialState, formatFragment, setLanguage } = web;

/** What panels draw for paper: nothing, a picture, or a failure. */
const figures = {
  map: () => ({ svg: { width: 30, height: 20, body: '<b/>' } }),
  masks: () => null,
  scale: () => Promise.reject(new Error('it broke')),
};
for (const [id, figure] of Object.entries(figures)) {
  customElements.define(
    `qkv-panel-${id}`,
    class extends Panel {
      template() {
        return '';
      }
      update() {}
      async figure(view, tensors) {
        asked.push([id, view.state.seed, await tensors()]);
        return figure();
      }
    },
  );
}

const LESSON = readLesson({
  title: 'A *lesson*',
  minutes: 12,
  goals: ['to `see`', 'to learn'],
  steps: [
    {
      title: 'First [q|one]',
      text: 'One.\n\nTwo *words*.\n \n',
      show: ['settings', 'map', 'sentence'],
      state: 'seed=3',
      lock: ['seed'],
      exercises: [{ text: 'Why?' }, { text: 'How many?', number: 'tokens' }],
      notes: 'Ask *first*.\n\nThen wait.',
    },
    { text: 'Guess.', show: ['masks', 'row'], guess: true, lock: true, state: 'h=2' },
    { title: 'Last', show: ['scale', 'map'], state: 'seed=5&lang=zh&controls=0&p=map' },
  ],
});

let host;
let reader;
let asked;
let heard;
beforeEach(() => {
  setLanguage('en');
  localStorage.clear();
  [asked, heard] = [[], []];
  const section = (id, body = '') =>
    `<section id="${id}"><h2 id="${id}-title">The ${id}</h2><qkv-panel-${id}>${body}</qkv-panel-${id}></section>`;
  document.body.innerHTML = `<main><div id="store"><section class="instruments"></section><section class="sentence"></section>
    ${['map', 'masks', 'scale', 'row', 'cost'].map((id) => section(id)).join('')}</div></main>`;
  let state = initialState('en');
  host = {
    hold: null,
    settled: true,
    client: { tensors: async () => 'tensors' },
    view: () => ({ state, list: { tokens: ['a', 'b'] } }),
    begin: (next) => (heard.push(`begin ${formatFragment(next)}`), (state = next)),
    show: ({ id }, visible) => heard.push(`show ${id} ${visible}`),
    panelAdded: () => heard.push('panel added'),
    change: (patch) => (state = { ...state, ...patch }),
  };
  reader = new LessonReader();
  reader.host = host;
  reader.locks = new Locks();
  reader.store = document.getElementById('store');
  document.querySelector('main').append(reader);
  globalThis.print = () => heard.push('printed');
});
afterEach(async () => {
  await rest();
  leave();
  mock.restoreAll();
});

const opened = (more = {}) => ({
  ...{
    lesson: LESSON,
    id: 'mine',
    language: 'en',
    link: () => `#v=1&L=code&step=${reader.at + 1}`,
  },
  ...{ adapt: () => heard.push('adapt'), leave: () => heard.push('leave') },
  ...more,
});
async function open(step = 0, more = {}) {
  reader.open(opened(more), step);
  await rest();
}
const part = (selector) => reader.querySelector(selector);
const press = async (selector) => {
  part(selector).click();
  await rest();
};

describe('lessons: a step', () => {
  test('that the reader goes to is a new entry of the history, and that the page goes to is none', async () => {
    const visited = [];
    const push = history.pushState.bind(history);
    mock.method(history, 'pushState', (...args) => {
      visited.push(args[2]);
      push(...args);
    });
    await open(0);
    assert.deepEqual([visited, written.length], [[], 1]);
    await press('.current .next');
    await press('.lesson-steps li:nth-child(3) button');
    await press('.lesson-steps li:nth-child(3) button');
    assert.deepEqual(visited, ['/#v=1&L=code&step=2', '/#v=1&L=code&step=3'], 'once each');
    visited.length = 0;
    await press('.print');
    await until(() => heard.includes('printed'));
    assert.deepEqual(visited, []);
  });

  test('locks its controls, and lets through what is not locked', async () => {
    const patch = { seed: 4, head: 1, language: 'zh', masksAsk: false };
    const lets = () => Object.keys(host.hold.allow(patch)).join(' ');
    await open(0);
    assert.deepEqual([reader.locks.lock, lets()], [['seed'], 'head language masksAsk']);
    await open(1);
    assert.deepEqual([reader.locks.lock, lets()], [true, 'language masksAsk']);
    await open(2);
    assert.deepEqual([reader.locks.lock, lets()], [[], 'seed head language masksAsk']);
    reader.locks = null;
    await open(0);
    assert.equal(reader.at, 0);
  });
});

describe('lessons: the settings of a step', () => {
  const back = () => part('.current .back');
  const update = () => reader.update(host.view());
  test('can be brought back once they were left', async () => {
    update();
    await open(0);
    assert.equal(back().hidden, true);
    for (const [patch, moved] of [
      [{}, false],
      [{ seed: 4 }, true],
      [{ seed: 3 }, false],
      [{ masksAsk: true, scaleAsk: true, curves: false }, false],
      [{ panel: 'map', controls: false }, false],
      [{ text: 'other' }, true],
    ]) {
      host.change(patch);
      update();
      assert.equal(back().hidden, !moved, JSON.stringify(patch));
    }
    heard.length = 0;
    await press('.current .back button');
    assert.deepEqual(heard, [`begin #v=1&lang=en&${exampleSaid()}&seed=3`]);
    update();
    assert.equal(back().hidden, true);
  });

  test('are named where an answer was compared with others', async () => {
    await open(0);
    const verdict = () => {
      const form = [...part('.current .lesson-exercises').querySelectorAll('form')][1];
      form.querySelector('input').value = '2';
      form.dispatchEvent(new Event('submit', { cancelable: true }));
      return form.querySelector('.verdict').textContent;
    };
    assert.equal(verdict(), 'Right. The page computes 2.000.');
    host.change({ seed: 9 });
    assert.equal(verdict(), 'Right. The page computes 2.000.', 'not yet drawn');
    update();
    assert.match(verdict(), /^Right.*You have changed the settings/);
    reader.close();
    assert.equal(verdict(), 'Right. The page computes 2.000.', 'of no lesson any more');
  });
});

describe('lessons: who leaves', () => {
  test('leaves the lesson before the address changes; who adapts it stays', async () => {
    await open(0);
    await press('.adapt');
    await press('.leave');
    assert.deepEqual(heard.slice(-2), ['adapt', 'leave']);
    heard.length = 0;
    for (const selector of ['.adapt', '.leave', '.print']) await press(selector);
    await press('.current .next');
    assert.deepEqual([heard, reader.at], [[], 0]);
    part('.current .back button').click();
    assert.deepEqual(heard, []);
  });

  test('is not followed by the step that was to come', async () => {
    await open(0);
    heard.length = 0;
    part('.current .next').click(); // the figures of the first step are drawn before
    reader.close();
    await rest();
    assert.deepEqual([heard, reader.at], [[], 0]);
    await open(0);
    part('.current .next').click();
    reader.remove();
    await rest();
    assert.equal(reader.at, 0);
  });
});

describe('lessons: what teachers ask for', () => {
  const notes = () =>
    [...reader.querySelectorAll('.lesson-notes')]
      .filter(({ hidden }) => !hidden)
      .map(({ textContent }) => textContent);
  const solutions = () =>
    [...reader.querySelectorAll('.solution')]
      .filter(({ hidden }) => !hidden)
      .map(({ textContent }) => textContent);

  test('notes and solutions are shown while they are wanted, as the page computes them now', async () => {
    await open(0);
    assert.deepEqual([notes(), solutions()], [[], []]);
    await press('.for-teachers');
    assert.equal(part('.for-teachers').getAttribute('aria-pressed'), 'true');
    assert.deepEqual(
      notes(),
      ['Notes for teachersAsk first.Then wait.'],
      'of the step that has some',
    );
    assert.deepEqual(solutions(), ['The answer: 2.000'], 'of the question that has one');
    host.view = (
      ({ state, list }) =>
      () => ({ state, list: { tokens: [...list.tokens, 'c'] } })
    )(host.view());
    reader.update(host.view());
    assert.deepEqual(solutions(), ['The answer: 3.000']);
    await press('.for-teachers');
    assert.deepEqual([notes(), solutions()], [[], []]);
  });

  test('stay on in the next lesson, until they are put away', async () => {
    await open(0);
    await press('.for-teachers');
    await open(1);
    await press('.current [data-to="0"]');
    assert.deepEqual([notes().length, solutions()], [1, ['The answer: 2.000']]);
  });
});

describe('lessons: answers', () => {
  const question = (at) => part('.lesson-step').querySelectorAll('.lesson-exercises form')[at];
  const type = (at, text) => {
    const box = question(at).querySelector('input, textarea');
    box.value = text;
    box.dispatchEvent(new Event('input', { bubbles: true }));
  };
  const entered = () => [0, 1].map((at) => question(at).querySelector('input, textarea').value);

  test('are there again when the lesson is opened anew, and not in another lesson', async () => {
    await open(0);
    type(0, 'Because.');
    type(1, '2');
    question(1).dispatchEvent(new Event('submit', { cancelable: true }));
    await open(0, { id: 'other' });
    assert.deepEqual(entered(), ['', '']);
    await open(0);
    assert.deepEqual(entered(), ['Because.', '2']);
    assert.equal(
      question(1).querySelector('.verdict').textContent,
      'Right, when you last checked.',
    );
    assert.match(part('.answers-count').textContent, /: 2\.$/);
  });

  test('are gone when they are cleared, and come back when that was a mistake', async () => {
    await open(0);
    type(0, 'Because.');
    await press('[data-answers=clear]');
    assert.deepEqual(
      [entered(), part('.answers-said').textContent],
      [['', ''], 'The answers are cleared.'],
    );
    await press('[data-answers=undo]');
    assert.deepEqual(entered(), ['Because.', '']);
  });
});

describe('lessons: on paper', () => {
  const pictures = () =>
    [...reader.querySelectorAll('.lesson-step')].map((step) => [
      step.classList.contains('captured'),
      ...[...step.querySelectorAll('.lesson-figures img')].map(({ alt, width, height, src }) =>
        [alt, width, height, decodeURIComponent(src).includes('<b/>')].join(' '),
      ),
    ]);
  const picture = 'The map 30 20 true';

  test('a step that is left keeps its figures until it is read again', async () => {
    await open(0);
    assert.deepEqual(pictures(), [[false], [false], [false]]);
    await press('.current .next');
    assert.deepEqual(pictures(), [[true, picture], [false], [false]]);
    assert.deepEqual(asked, [['map', 3, 'tensors']]);
    await press('.current .next');
    await press('.current [data-to="1"]');
    assert.deepEqual(pictures(), [[true, picture], [false], [true, picture]]);
    await press('.current [data-to="0"]');
    assert.deepEqual(pictures(), [[false, picture], [false], [true, picture]]);
    asked.length = 0;
    await press('.lesson-steps button');
    assert.deepEqual(asked, [], 'it is the same step');
  });

  test('all steps are visited, and the reader is where and how they were', async () => {
    await open(1);
    host.change({ seed: 8 });
    heard.length = 0;
    part('.print').click();
    assert.equal(part('.lesson-status').textContent, 'Preparing the figures …');
    await until(() => heard.includes('printed'));
    assert.deepEqual(
      heard.filter((line) => /begin|printed/.test(line)),
      [
        `begin #v=1&lang=en&${exampleSaid()}&seed=3`,
        `begin #v=1&lang=en&${exampleSaid()}&seed=5`,
        `begin #v=1&lang=en&${exampleSaid()}&seed=8&h=2&ma=1`,
        'printed',
      ],
    );
    assert.deepEqual([reader.at, part('.lesson-status').textContent], [1, '']);
    assert.deepEqual(pictures(), [[true, picture], [false], [true, picture]]);
  });

  test('a lesson that is left, or another that is opened meanwhile, is neither moved nor printed', async () => {
    for (const turns of [0, 1, 4, 9, 14]) {
      for (const leaveIt of [() => reader.close(), () => open(2)]) {
        await open(0);
        heard.length = 0;
        part('.print').click();
        for (let turn = 0; turn < turns; turn++) await new Promise(requestAnimationFrame);
        if (heard.includes('printed')) continue;
        await leaveIt();
        const { at } = reader;
        await rest();
        await rest();
        assert.deepEqual([heard.includes('printed'), reader.at], [false, at], `${turns} turns`);
      }
    }
  });
});

test('lessons: of the query what belongs to a lesson goes into the fragment', () => {
  for (const [search, rest] of [
    ['', ''],
    ['?embed=lesson', '?embed=lesson'],
    ['?lesson=order&step=2&lang=zh', ''],
    ['?lesson=order&embed=lesson&a=1', '?embed=lesson&a=1'],
  ]) {
    history.replaceState(null, '', `https://page.example/${search}`);
    assert.equal(web.searchOf(), rest);
  }
});
