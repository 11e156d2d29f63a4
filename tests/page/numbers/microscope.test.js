// The microscope, in Node: what the worker tells of two prompts against passes of the package that are edited by hand, what a link
// holds, and what the panel shows of it.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { root } from '../../support/js/files.js';
import { until } from '../../support/js/patience.js';
import { modules } from '../support/engine.js';
import { engine, rest, shownPanel, viewOf, web } from '../support/scene.js';

const parts = await modules(
  ...['features/microscope/worker/microscope_desk', 'features/microscope/worker/answers'],
  ...['features/microscope/page/{map_table,shares_view,cuts_view,prompts_view,names}'],
  'features/model/worker/open_model',
);

const PAIR = web.readyPair('names', true);
const ASK = { ...PAIR, answer: null, instead: null, heads: [], edges: [], at: null, head: null };
const shipped = (name) => {
  const bytes = readFileSync(join(root, `models/${name}/${name}.safetensors`));
  return { kind: 'address', name, url: URL.createObjectURL(new Blob([bytes])) };
};
const open = (name) =>
  parts.open(engine.qkv, shipped(name), {
    ...{ signal: new AbortController().signal, onProgress: () => undefined },
  });

let of;
before(async () => (of = await open('names')));

/** A desk, what it has told so far, and what it told one time after the other. */
function deskOf(opened = of) {
  const told = {};
  const times = [];
  const desk = new parts.MicroscopeDesk(engine.qkv, opened, (news) => {
    Object.assign(told, news);
    times.push(news);
  });
  return {
    desk,
    told,
    times,
    ask: (more) => desk.receive({ kind: 'microscope', ask: { ...ASK, ...more } }),
  };
}

/** The logit of one token less that of another after the last token, of a pass that is edited. */
function measure(ids, [answer, instead], edit = []) {
  const { data } = of.model.forward(ids, { rows: 'last', edit }).logits;
  return data[answer] - data[instead];
}
const near = (found, wanted, what, most = 1e-4) =>
  assert.ok(Math.abs(found - wanted) <= most, `${what}: ${found} and ${wanted}`);
const chosenOf = ({ answer, instead }) => [answer.id, instead.id];

describe('microscope: the worker', () => {
  test('reads both prompts, and compares the likeliest tokens after each', () => {
    const { ask, told } = deskOf();
    ask();
    const { clean, corrupt, problem, answer, instead, choices, measures } = told.prompts;
    assert.equal(problem, null);
    assert.deepEqual([...parts.differencesOf(told.prompts)], [10]);
    assert.deepEqual([clean.labels[10], corrupt.labels[10]], ['␣John', '␣Mary']);
    assert.deepEqual([answer.label, instead.label], ['␣Mary', '␣John']);
    const ids = choices.map(({ id }) => id);
    assert.equal(new Set(ids).size, ids.length);
    near(measures[0], measure(clean.ids, chosenOf(told.prompts)), 'clean', 0);
    near(measures[1], measure(corrupt.ids, chosenOf(told.prompts)), 'corrupt', 0);
    ask({ answer: choices[3].id, instead: choices[2].id });
    assert.deepEqual(chosenOf(told.prompts), [choices[3].id, choices[2].id]);
    ask({ answer: 99999, instead: answer.id });
    assert.deepEqual(chosenOf(told.prompts), [answer.id, instead.id], 'others are none');
  });

  test('says why prompts are not compared', () => {
    const { desk, ask, told } = deskOf();
    const problemOf = (more) => {
      ask(more);
      desk.receive({ kind: 'maps' });
      assert.equal(told.maps, null);
      return [told.prompts.problem, told.shares !== null];
    };
    assert.deepEqual(problemOf({ corrupt: `${PAIR.corrupt} a` }), ['lengths', true]);
    assert.deepEqual(problemOf({ corrupt: PAIR.clean }), ['same', true]);
    assert.deepEqual(problemOf({ clean: 'xyz' }), ['empty', false]);
    assert.deepEqual(problemOf({ clean: 'John gave a book to '.repeat(20) }), ['long', false]);
    assert.deepEqual(problemOf({}), [null, true]);
  });

  test('each cell of the maps is one pass with one activation of the other', async () => {
    const { desk, ask, told, times } = deskOf();
    ask();
    desk.receive({ kind: 'maps' });
    await until(() => told.maps && !told.maps.running);
    const { clean, corrupt, measures } = told.prompts;
    const { maps, done, of: all } = told.maps;
    assert.deepEqual(
      maps.map(({ site, rows, columns }) => [site, rows, columns]),
      [
        ['residual', 2, 15],
        ['attention', 2, 15],
        ['z', 2, 4],
      ],
    );
    assert.deepEqual([done, all], [68, 68]);
    const progress = times.flatMap(({ maps: each }) => (each ? [each.done] : []));
    assert.deepEqual(
      progress,
      progress.toSorted((a, b) => a - b),
    );
    const sites = maps.map(({ site }) => ({ site }));
    const { activations } = of.model.forward(clean.ids, { read: sites });
    for (const { site, rows, columns, values } of maps) {
      for (let at = 0; at < rows * columns; at++) {
        const [layer, column] = [Math.floor(at / columns), at % columns];
        const { data, shape } = activations.get(site, layer);
        const width = shape.at(-1);
        const size = site === 'z' ? shape[2] * width : width;
        const value = data.slice(column * size, (column + 1) * size);
        const place = site === 'z' ? { head: column } : { rows: [column, column + 1] };
        const edit =
          site === 'z'
            ? { site, layer, ...place, value: { data: value, shape: [1, 1, shape[2], width] } }
            : { site, layer, ...place, value };
        const patched = measure(corrupt.ids, chosenOf(told.prompts), [edit]);
        const wanted = (patched - measures[1]) / (measures[0] - measures[1]);
        near(values[at], wanted, `${site} ${layer}, ${column}`);
      }
    }
  });

  test('maps stop, and those of other prompts are told no more', async () => {
    const { desk, ask, told, times } = deskOf();
    ask();
    desk.receive({ kind: 'maps' });
    desk.receive({ kind: 'stop-maps' });
    await until(() => told.maps && !told.maps.running);
    assert.ok(told.maps.done < told.maps.of && told.failure === null);
    desk.receive({ kind: 'maps' });
    ask({ corrupt: 'When Mary and John went to the shop, Emma gave a book to' });
    const count = times.length;
    await rest();
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal(times.length, count);
    assert.equal(told.maps, null);
  });

  test('a cut does not end the maps, which are of passes without it', async () => {
    const { desk, ask, told } = deskOf();
    ask();
    desk.receive({ kind: 'maps' });
    ask({ heads: [[1, 2]] });
    await until(() => told.maps && !told.maps.running);
    assert.equal(told.maps.done, told.maps.of);
  });

  test('what the parts give adds up to the measure, with and without cuts', () => {
    const { ask, told } = deskOf();
    for (const heads of [
      [],
      [[0, 3]],
      [
        [0, 3],
        [1, 2],
      ],
    ]) {
      ask({ heads });
      const { parts: shares, total } = told.shares;
      const { clean } = told.prompts;
      const edit = heads.map(([layer, head]) => ({ site: 'z', layer, head, value: 0 }));
      near(total, measure(clean.ids, chosenOf(told.prompts), edit), 'total');
      const sum = shares.reduce((all, { value }) => all + value, 0);
      near(sum, total, 'sum', 1e-9);
      assert.equal(shares.filter(({ part }) => part === 'head').length, 8);
      for (const { layer, head, value } of shares) {
        if (heads.some(([a, b]) => a === layer && b === head)) assert.equal(Math.abs(value), 0);
      }
      const bars = parts.barsOf(told.shares);
      near(
        bars.reduce((all, { value }) => all + value, 0),
        total,
        'bars',
        1e-9,
      );
    }
  });

  test('a cut head and a cut edge act as in the package, before and after', () => {
    const { ask, told } = deskOf();
    const softmax = (data) => {
      const most = Math.max(...data);
      const exps = Array.from(data, (x) => Math.exp(x - most));
      const sum = exps.reduce((a, b) => a + b, 0);
      return exps.map((x) => x / sum);
    };
    ask({
      heads: [
        [0, 3],
        [7, 0],
      ],
      edges: [
        [0, 1, 14, 3],
        [0, 1, 3, 14],
        [0, 1, 99, 0],
      ],
    });
    const { heads, edges, rows } = told.cut;
    assert.deepEqual([heads, edges], [[[0, 3]], [[0, 1, 14, 3]]], 'what is not there is not cut');
    const { ids } = told.prompts.clean;
    const plain = softmax(of.model.forward(ids, { rows: 'last' }).logits.data);
    const scores = { site: 'scores', layer: 0, head: 1, rows: [14, 15], keys: [3, 4] };
    const edit = [{ ...scores, value: -Infinity }];
    const ablate = [[0, 3]];
    const { logits } = of.model.forward(ids, { rows: 'last', edit, inspect: { ablate } });
    const cut = softmax(logits.data);
    assert.ok(rows.length >= 5);
    for (const { id, before: p, after } of rows) {
      near(p, plain[id], `before ${id}`, 1e-6);
      near(after, cut[id], `after ${id}`, 1e-6);
    }
    assert.equal(rows[0].id, plain.indexOf(Math.max(...plain)));
    assert.ok(rows.some(({ id }) => cut[id] === Math.max(...cut)));
    ask({});
    for (const { before: p, after } of told.cut.rows) assert.equal(p, after);
  });

  test('what fails is told, and nothing of it is under way', async () => {
    const { desk, ask, told } = deskOf({ ...of, model: { ...of.model, config: of.model.config, forward: of.model.forward.bind(of.model), attribute: () => { throw new Error('no room'); }, sweep: () => Promise.reject(new Error('no room')) } }); // prettier-ignore
    ask();
    assert.deepEqual([told.failure.message, told.shares, told.cut], ['no room', null, null]);
    desk.receive({ kind: 'maps' });
    await until(() => told.maps === null && told.failure !== null);
  });

  test('prompts that fail are not answered by those before them, and can be asked again', async () => {
    let isFull = false;
    const model = new Proxy(of.model, {
      get(target, name) {
        if (isFull && name === 'forward') throw new Error('no room');
        const value = target[name];
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    const { desk, ask, told } = deskOf({ ...of, model });
    ask();
    assert.equal(told.prompts.clean.labels[10], '␣John');
    desk.receive({ kind: 'maps' });
    isFull = true;
    const other = { clean: PAIR.corrupt, corrupt: PAIR.clean };
    for (const again of [other, other, { ...other, at: 3 }]) {
      ask(again);
      assert.deepEqual(
        [told.failure.message, told.prompts, told.maps, told.shares, told.pass],
        ['no room', null, null, null, null],
      );
    }
    isFull = false;
    ask(other);
    assert.deepEqual([told.failure, told.prompts.clean.labels[10]], [null, '␣Mary']);
  });

  test('the pairs of all models are compared, and get different answers', async () => {
    for (const name of ['novels', 'austen', 'tang']) {
      const opened = await open(name);
      const { ask, told } = deskOf(opened);
      ask(web.readyPair(name, true));
      assert.equal(told.prompts.problem, null, name);
      const [clean, corrupt] = told.prompts.measures;
      assert.ok(clean > 0 && corrupt < 0, `${name}: ${clean}, ${corrupt}`);
      opened.model.dispose();
    }
  });
});

test('microscope: a link has the prompts, the tokens and the cuts', () => {
  const state = {
    ...web.initialState('en'),
    ...{ microscopeClean: 'a b', microscopeCorrupt: 'a c', microscopeAnswer: 3 },
    ...{ microscopeInstead: 4, microscopeHeads: [[0, 3], [1, 2]], microscopeEdges: [[0, 1, 9, 2]] }, // prettier-ignore
    ...{ microscopeZoom: [1, 2], microscopeAt: 10 },
  };
  const link = web.formatFragment(state);
  assert.match(
    link,
    /&mic=a\+b&micc=a\+c&mica=3&mici=4&mich=0.3%2C1.2&mice=0.1.9.2&micz=1.2&mict=10$/,
  );
  assert.deepEqual(web.parseFragment(link, 'en'), state);
  assert.doesNotMatch(web.formatFragment(web.initialState('en')), /mic/);
  const read = (raw) => web.parseFragment(`#v=1&${raw}`, 'en');
  assert.equal(read('mice=0.1.9').microscopeEdges, null);
  assert.equal(read('mich=0.x').microscopeHeads, null);
  assert.deepEqual(read('micz=1').microscopeZoom, [1]);
  assert.equal(read('micz=1.2.3').microscopeZoom, null);
});

describe('microscope: the page', () => {
  test('keys lead from cell to cell, and not out of the map', () => {
    const to = (key, at) => parts.cellAfter({ key }, at, [2, 5]);
    assert.deepEqual(to('ArrowRight', [0, 3]), [0, 4]);
    assert.deepEqual(to('ArrowRight', [0, 4]), [0, 4]);
    assert.deepEqual(to('ArrowUp', [0, 4]), [0, 4]);
    assert.deepEqual(to('ArrowDown', [0, 4]), [1, 4]);
    assert.deepEqual(
      [to('Home', [1, 3]), to('End', [1, 3])],
      [
        [1, 0],
        [1, 4],
      ],
    );
    assert.equal(to('Tab', [1, 3]), null);
  });

  test('the smallest of many parts are one bar', () => {
    const many = Array.from({ length: 100 }, (_, i) => ({
      ...{ part: 'head', layer: i, head: 0, value: i % 2 ? i : -i },
    }));
    const bars = parts.barsOf({ parts: many });
    assert.equal(bars.length, 30);
    const { value, count } = bars.at(-1);
    assert.deepEqual([count, bars[0].layer], [71, 71]);
    // −0 + 1 − 2 + … − 70
    assert.equal(value, -35);
    // As many as there is room for have a bar each.
    const some = parts.barsOf({ parts: many.slice(0, 30) });
    assert.deepEqual([some.length, some.at(-1).count], [30, 1]);
  });

  test('cuts are put back, and an edge stays within the prompt and the mask', () => {
    assert.deepEqual(parts.toggled([[0, 1]], [0, 1]), []);
    assert.deepEqual(parts.toggled([[0, 1]], [1, 1]), [
      [0, 1],
      [1, 1],
    ]);
    const within = { count: 5, size: [2, 4], causal: true };
    assert.deepEqual(parts.edgeWithin([9, 9, 1e6, 0], within), [1, 3, 4, 0]);
    assert.deepEqual(parts.edgeWithin([0, 0, 2, 4], within), [0, 0, 2, 2]);
    assert.deepEqual(parts.edgeWithin([0, 0, 2, 4], { ...within, causal: false }), [0, 0, 2, 4]);
  });

  test('numbers have the signs of mathematics', () => {
    assert.deepEqual([1.234, -1.234, -0.001].map(parts.signed), ['+1.23', '−1.23', '0.00']);
    assert.deepEqual([0.5, -0.25, -0.001, 1.2].map(parts.share), ['50%', '−25%', '0%', '120%']);
  });

  test('a cell says what it is, and one of a head cuts it', async () => {
    const { panel, changes, text } = await shownPanel('qkv-panel-microscope', {});
    const cell = panel.querySelector('[data-map=residual] [data-cell="0.14"]');
    cell.dispatchEvent(new Event('pointermove', { bubbles: true }));
    const told = '.microscope-maps > div:first-child .microscope-described';
    assert.match(
      text(told),
      /^Layer 0, token 14 “␣to”: with the clean stream after this layer, 10\d%/,
    );
    assert.equal(cell.getAttribute('aria-label'), text(told));
    const head = panel.querySelector('[data-map=z] [data-cell="0.3"]');
    head.click();
    assert.deepEqual(changes, [{ microscopeHeads: [[0, 3]] }]);
    const stops = panel.querySelectorAll('[data-map=residual] [tabindex="0"]');
    assert.equal(stops.length, 1, 'one stop of the Tab key for each map');
  });

  test('a model is asked once for each state, and one that is not there is offered', async () => {
    const panel = document.createElement('qkv-panel-microscope');
    const asked = [];
    panel.addEventListener('model-tell', ({ detail }) => asked.push(detail));
    document.body.replaceChildren(panel);
    const state = web.initialState('en');
    const view = await viewOf('qkv-panel-microscope', {}, state, 1);
    panel.update({ ...view, model: web.NO_MODEL });
    panel.querySelector('[data-do=load]').click();
    assert.deepEqual(
      asked.map(({ kind, files }) => [kind, files?.name]),
      [['load', 'names']],
    );
    panel.update(view);
    panel.update({ ...view, look: 2 });
    assert.deepEqual(asked.slice(1), [{ kind: 'microscope', ask: ASK }]);
    panel.update({ ...view, state: { ...state, microscopeHeads: [[0, 0]] } });
    assert.deepEqual(asked.slice(2), [{ kind: 'microscope', ask: { ...ASK, heads: [[0, 0]] } }]);
    panel.update({
      ...view,
      model: { ...view.model, info: { ...view.model.info, speaks: false } },
    });
    assert.match(panel.textContent, /is an encoder/);
    assert.equal(asked.length, 3);
  });

  test('another model begins without the cuts of the one before, and a link keeps its own', async () => {
    const { panel, changes, view } = await shownPanel('qkv-panel-microscope', {});
    const state = { ...view.state, microscopeHeads: [[0, 1]], microscopeAnswer: 4 };
    const other = { ...view.model, info: { ...view.model.info, id: view.model.info.id + 1 } };
    panel.update({ ...view, state });
    assert.deepEqual(changes, []);
    panel.update({ ...view, state, model: other });
    const none = { microscopeAnswer: null, microscopeInstead: null, microscopeAt: null };
    assert.deepEqual(changes, [
      { ...none, microscopeHeads: null, microscopeEdges: null, microscopeZoom: null },
    ]);
    panel.update({ ...view, model: { ...other, info: { ...other.info, id: 9 } } });
    assert.equal(changes.length, 1, 'nothing was chosen');
  });

  test('gives away all numbers', async () => {
    const { panel, view } = await shownPanel('qkv-panel-microscope', {});
    const { table, data } = await panel.figure(view);
    const { maps, shares, cut, pass } = view.model.microscope;
    assert.equal(data.microscope, view.model.microscope);
    const numbers = table.flat().filter((cell) => typeof cell === 'number');
    const ofLayer = ({ parts: all, streams }) => [
      ...all.flatMap(({ norm, value }) => (norm === null ? [value] : [norm, value])),
      streams[pass.at],
    ];
    const wanted = [
      ...[pass.embed.streams[pass.at], pass.embed.value],
      ...pass.layers.flatMap(ofLayer),
      ...[pass.final, pass.bias],
      ...maps.maps.flatMap(({ values }) => [...values]),
      ...[...shares.parts.map(({ value }) => value), shares.total],
      ...cut.rows.flatMap(({ before: p, after }) => [p, after]),
    ];
    assert.deepEqual(numbers, wanted);
    assert.equal(await panel.figure({ ...view, model: web.NO_MODEL }), null);
  });
});
