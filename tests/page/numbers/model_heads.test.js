// @about web/src/features/model/
// The heads of a trained model, in a window without a browser: what is listed and said of them in every order
// (tests/page/operated/model-heads.txt), what their buttons ask for, and what stays in focus.
import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import { float, partsOf } from '../support/model_parts.js';
import { fire, requireWritten } from '../support/operate.js';
import { openWindow } from '../support/window.js';

const { leave, rest } = openWindow();
const { modules } = await import('../support/engine.js');
const web = await modules(
  ...['panel', 'page/heads_part', 'shared/model_view'].map((name) => `features/model/${name}`),
  'state/state',
);
// Colours that are mixed are unknown to this window, which would leave them out.
Object.defineProperty(CSSStyleDeclaration.prototype, 'backgroundColor', {
  set(colour) {
    this.setProperty('--background', colour);
  },
});
afterEach(() => {
  leave();
  web.setLanguage('en');
});

const { put, shown, lookAgain } = partsOf(web, rest);

const INFO = { numLayers: 2, numHeads: 2, speaks: true, notDrawn: null, name: null };
const scores = (more = {}) => ({
  ...{ numHeads: 2, previous: float(0.1, 0.5, 0.5, 0.2), first: float(0.49, 0, 0.25, 0.49) },
  ...{ induction: float(0, 0, 0.015, 0.9), repeated: 50, difference: 2.5e-7, ...more },
});
const reading = { id: 3, ids: [1] };
const changes = (...values) => ({ reading: 3, changes: float(...values), running: false });
const view = ({ info = {}, answers = {}, model = {}, state = {} } = {}) => ({
  state,
  model: { info: { ...INFO, ...info }, ...model },
  answers: {
    reading,
    scores: scores(),
    losses: { whole: 2, ablated: null, heads: [] },
    ...answers,
  },
});
const changed = { changes: changes(0.04, -0.01, NaN, 0.0025) };
const of = (count, heads) => {
  const values = Float32Array.from({ length: count }, (_, i) => i / count);
  return view({
    info: { numLayers: count / heads, numHeads: heads },
    answers: {
      scores: { ...scores(), numHeads: heads, previous: values, first: values, induction: values },
    },
  });
};

const HEADS = {
  'no model': { model: {} },
  'no scores': view({ answers: { scores: null, losses: null } }),
  'four heads': view(),
  'some are out': view({
    answers: {
      losses: {
        whole: 2,
        ablated: 2.5,
        heads: [
          [0, 1],
          [1, 0],
        ],
      },
    },
    state: {
      modelOut: [
        [0, 1],
        [1, 0],
      ],
    },
  }),
  'which does the text good': view({
    answers: { losses: { whole: 2, ablated: 1.876543, heads: [[0, 1]] } },
    state: { modelOut: [[0, 1]] },
  }),
  'what changes without each': view({ model: changed }),
  'by that': view({ model: changed, state: { modelOrder: 'change' } }),
  'that is not known': view({ state: { modelOrder: 'change' } }),
  'that is of another text': view({ model: { changes: { ...changed.changes, reading: 2 } } }),
  'that is worked out': view({ model: { changes: { ...changed.changes, running: true } } }),
  'tiny changes': view({ model: { changes: changes(2.5e-7, 0, -1e-6, 0) } }),
  ...Object.fromEntries(
    ['previous', 'first', 'induction'].map((modelOrder) => [
      `by ${modelOrder}`,
      view({ state: { modelOrder } }),
    ]),
  ),
  'in Chinese': view({ state: { language: 'zh' }, model: changed }),
  'to the last bit': view({ answers: { scores: scores({ difference: 0 }) } }),
  'that are not drawn': view({
    info: { notDrawn: 'alibi' },
    answers: { scores: scores({ difference: NaN }) },
  }),
  'of an encoder': view({ info: { speaks: false }, answers: { losses: null } }),
  'no scores again': view({ answers: { scores: null } }),
};

test('model: what is said of heads, one thing after another', async () => {
  requireWritten('model-heads', await shown('heads', HEADS));
});

describe('model: heads', () => {
  const button = (part, head, what) =>
    part.querySelector(`[data-head="${head}"] [data-do=${what}]`);

  test('are taken out and put back, each by itself and all at once', () => {
    const { part, asked, show, one } = put('heads');
    one('.all').click(); // before anything is known
    one('.model-heads').click();
    assert.deepEqual(asked.splice(0), [{ kind: 'changes' }]);
    const modelOut = [
      [0, 1],
      [1, 1],
    ];
    show(view({ state: { modelOut } }));
    for (const head of [2, 1, 3]) button(part, head, 'out').click();
    one('.back').click();
    one('li b').click(); // what is no button
    assert.deepEqual(asked, [
      ...[[...modelOut, [1, 0]], [[1, 1]], [[0, 1]], []].map((out) => ({ modelOut: out })),
    ]);
  });

  test('are shown in the map, to which the address leads', () => {
    location.hash = '';
    const { part, asked, show } = put('heads');
    show(view({ state: { modelAt: 4 } }));
    button(part, 3, 'map').click();
    assert.deepEqual(asked, [{ source: 'trained', head: 3, other: null, query: 4 }]);
    assert.equal(location.hash, '#map');
  });

  test('have an order that is chosen', () => {
    const { asked, one, show } = put('heads');
    show(view());
    const order = one('.order');
    order.value = 'first';
    fire(order, 'change');
    order.value = '';
    fire(order, 'change');
    assert.deepEqual(asked, [{ modelOrder: 'first' }]);
  });

  test('keep the focus of a button that stands somewhere else now', () => {
    const { part, show, one } = put('heads');
    show(view());
    for (const [head, what] of [
      [2, 'out'],
      [1, 'map'],
    ]) {
      button(part, head, what).focus();
      lookAgain();
      show(view({ state: { modelOrder: 'induction' } }));
      assert.ok(document.activeElement === button(part, head, what));
      lookAgain();
      show(view());
    }
    one('.order').focus();
    lookAgain();
    show(view());
    assert.ok(document.activeElement === one('.order'));
  });

  test('are listed again only when something has changed', () => {
    const { one, show } = put('heads');
    const isNew = (next) => {
      one('li').setAttribute('data-mark', '1');
      show(next);
      return one('li[data-mark]') === null;
    };
    const same = view();
    show(same);
    const { state, model, answers } = same;
    assert.equal(isNew({ state, model, answers }), false);
    assert.equal(isNew({ state, model: { ...model, ...changed }, answers }), true);
    assert.equal(isNew({ state: { modelOrder: 'first' }, model, answers }), true);
    assert.equal(
      isNew({ state: { modelOrder: 'first', modelOut: [[0, 0]] }, model, answers }),
      true,
    );
  });

  test('stand in lines that are a layer, or parts of one of the same length', () => {
    const { one, show } = put('heads');
    const columns = () => one('.model-heads').style.getPropertyValue('--columns');
    for (const [heads, wanted] of [
      ...[
        [1, '4'],
        [2, '2'],
        [3, '3'],
        [4, '4'],
        [5, '4'],
        [6, '3'],
        [7, '4'],
      ],
      ...[
        [8, '4'],
        [9, '3'],
        [10, '2'],
        [12, '4'],
        [16, '4'],
      ],
    ]) {
      show(of(heads, heads));
      assert.equal(columns(), wanted, `${heads} heads`);
    }
    show({ ...of(6, 3), state: { modelOrder: 'first' } });
    assert.equal(columns(), '4', 'in another order');
  });
});
