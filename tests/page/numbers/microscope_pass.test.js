// The picture of the whole pass under the microscope, in Node: every number is one of forward() and attribute() of the package, and
// the picture leads from the model to a layer and to a head by hand, by key, by wheel and by two fingers.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { root } from '../../support/js/files.js';
import { modules } from '../support/engine.js';
import { engine, shownPanel, web } from '../support/scene.js';

const parts = await modules(
  ...['features/microscope/worker/microscope_desk', 'features/model/worker/open_model'],
  'features/microscope/page/{zoom,pass_layout,pass_rows}',
);

const PAIR = web.readyPair('names', true);
const ASK = { ...PAIR, answer: null, instead: null, heads: [], edges: [], at: null, head: null };

let of;
before(async () => {
  const bytes = readFileSync(join(root, 'models/names/names.safetensors'));
  const url = URL.createObjectURL(new Blob([bytes]));
  const options = { signal: new AbortController().signal, onProgress: () => undefined };
  of = await parts.open(engine.qkv, { kind: 'address', name: 'names', url }, options);
});

/** What a desk tells of an ask, and how often it has told each thing. */
function deskOf() {
  const told = {};
  const times = { pass: 0, shares: 0 };
  const desk = new parts.MicroscopeDesk(engine.qkv, of, (news) => {
    Object.assign(told, news);
    for (const name of Object.keys(times)) times[name] += name in news ? 1 : 0;
  });
  const ask = (more) => desk.receive({ kind: 'microscope', ask: { ...ASK, ...more } });
  return { ask, told, times };
}

const norm = (values) => Math.sqrt([...values].reduce((sum, x) => sum + x * x, 0));
/** Row `at` of an array at a place, of head `head` where it has some. */
function rowAt(activations, [site, layer], at, head = 0) {
  const { data, shape } = activations.get(site, layer);
  const width = shape.at(-1);
  const from = (head * shape.at(-2) + at) * width;
  return data.subarray(from, from + width);
}
function near(found, wanted, what, most = 1e-5) {
  const off = Math.abs(found - wanted);
  assert.ok(off <= most * Math.max(1, Math.abs(wanted)), `${what}: ${found} and ${wanted}`);
}

describe('microscope: the numbers of the pass', () => {
  for (const [name, more, edit] of [
    ['as it is', {}, []],
    ['at another token', { at: 10 }, []],
    ['with a head cut', { heads: [[0, 3]] }, [{ site: 'z', layer: 0, head: 3, value: 0 }]],
    [
      'with an edge cut, at another token',
      { at: 12, edges: [[0, 1, 12, 3]] },
      [{ site: 'scores', layer: 0, head: 1, rows: [12, 13], keys: [3, 4], value: -Infinity }],
    ],
  ]) {
    test(`${name}: lengths, weights and shares are those of the package`, () => {
      const { ask, told } = deskOf();
      ask({ ...more, head: [1, 2] });
      const { pass, prompts } = told;
      const { ids } = prompts.clean;
      const at = more.at ?? ids.length - 1;
      assert.equal(pass.at, at);
      const read = ['embed', 'residual', 'heads', 'attention', 'final', 'weights'];
      const sites = [...read, 'q', 'k', 'v', 'z'].map((site) => ({ site }));
      const { logits, activations } = of.model.forward(ids, { read: sites, edit });
      const row = (...place) => rowAt(activations, place, at);
      for (const [token, length] of pass.embed.streams.entries()) {
        near(length, norm(rowAt(activations, ['embed'], token)), `embedding of ${token}`);
      }
      for (const [layer, shown] of pass.layers.entries()) {
        near(shown.attention, norm(row('attention', layer)), `attention ${layer}`);
        for (const [token, length] of shown.streams.entries()) {
          near(length, norm(rowAt(activations, ['residual', layer], token)), `stream ${token}`);
        }
        for (let head = 0; head < 4; head++) {
          const weights = rowAt(activations, ['weights', layer], at, head);
          const own = shown.weights.subarray(head * ids.length, (head + 1) * ids.length);
          assert.deepEqual([...own], [...weights], `weights ${layer}.${head}`);
          const added = norm(rowAt(activations, ['heads', layer], at, head));
          near(shown.parts[head].norm, added, `what ${layer}.${head} adds`);
        }
      }
      near(pass.final, norm(row('final')), 'after the last norm');
      // The vectors of the head that is zoomed to, and its whole map.
      for (const site of ['q', 'k', 'v', 'z']) {
        assert.deepEqual([...pass.head[site]], [...rowAt(activations, [site, 1], at, 2)], site);
      }
      const size = ids.length ** 2;
      const map = activations.get('weights', 1).data.subarray(2 * size, 3 * size);
      assert.deepEqual([...pass.head.map], [...map]);

      const { answer, instead } = prompts;
      const asked = { answer: answer.id, instead: instead.id, row: at, edit };
      const { parts: wanted, total } = of.model.attribute(ids, asked);
      const found = pass.layers.flatMap(({ parts: all }) => all.map(({ value }) => value));
      const all = [pass.embed.value, ...found, pass.bias];
      assert.deepEqual(all, wanted.map(({ value }) => value)); // prettier-ignore
      near(pass.total, total, 'total', 0);
      const { data, shape } = logits;
      const [, , vocabulary] = shape;
      const own = data.subarray(at * vocabulary, (at + 1) * vocabulary);
      near(pass.total, own[answer.id] - own[instead.id], 'difference of the logits', 1e-4);
      near(all.reduce((sum, value) => sum + value, 0), pass.total, 'sum'); // prettier-ignore

      const exps = Array.from(own, (x) => Math.exp(x - Math.max(...own)));
      const sum = exps.reduce((a, b) => a + b);
      const order = [...exps.keys()].sort((a, b) => exps[b] - exps[a]);
      assert.deepEqual(pass.next.map(({ id }) => id), order.slice(0, 5)); // prettier-ignore
      for (const { id, probability } of pass.next) near(probability, exps[id] / sum, `p ${id}`);
    });
  }

  test('where the picture is changes nothing of the rest, and a head that is not there is none', () => {
    const { ask, told, times } = deskOf();
    ask();
    assert.deepEqual([times.shares, times.pass, told.pass.head], [1, 1, null]);
    ask({ at: 3, head: [0, 1] });
    assert.deepEqual([times.shares, times.pass, told.pass.head.head], [1, 2, [0, 1]]);
    ask({ head: [7, 0] });
    assert.equal(told.pass.head, null);
    ask({ at: 999 });
    assert.equal(told.pass.at, told.prompts.clean.ids.length - 1);
    ask({ heads: [[0, 3]] });
    assert.equal(times.shares, 2, 'a cut is told');
    ask({ clean: '' });
    assert.equal(told.pass, null);
  });
});

describe('microscope: where the picture of the pass is', () => {
  test('steps lead from the model to a layer and a head, and back to where one came from', () => {
    assert.deepEqual(parts.zoomedIn([], 1), [1]);
    assert.deepEqual(parts.zoomedIn([1], 3), [1, 3]);
    assert.deepEqual(parts.zoomedIn([1, 3], 0), [1, 3]);
    assert.deepEqual(parts.zoomedOut([1, 3]), { zoom: [1], row: 3 });
    assert.deepEqual(parts.zoomedOut([1]), { zoom: [], row: 1 });
    assert.equal(parts.zoomedOut([]), null);
    assert.deepEqual(parts.zoomWithin([1, 9], [2, 4]), [1]);
    assert.deepEqual(parts.zoomWithin([2, 0], [2, 4]), []);
    assert.equal(parts.zoomOrNone([]), null);
  });

  test('a turn of the wheel is one step, however far, and so are two fingers', () => {
    const gestures = new parts.ZoomGestures();
    const turn = (deltaY, timeStamp) => gestures.wheel({ deltaY, timeStamp });
    assert.deepEqual([turn(-20, 0), turn(-20, 10), turn(-200, 20)], [null, 'in', null]);
    assert.deepEqual([turn(-5, 1000), turn(100, 2000)], [null, 'out']);
    const fingers = (distance) => [
      { clientX: 0, clientY: 0 },
      { clientX: distance, clientY: 0 },
    ];
    gestures.touch(fingers(100));
    assert.deepEqual([110, 130, 200].map((x) => gestures.pinch(fingers(x))), [null, 'in', null]); // prettier-ignore
    gestures.touch(fingers(100));
    assert.equal(gestures.pinch(fingers(70)), 'out');
    gestures.touch(fingers(100).slice(1));
    assert.equal(gestures.pinch(fingers(300)), null, 'one finger scrolls');
  });

  test('columns and rows stand beside each other, on a phone as on a wide screen', () => {
    const labels = Array.from({ length: 64 }, (_, i) => `token ${i}`);
    for (const width of [330, 980]) {
      const { x, column, side, sideWidth, top, row, base } = parts.passLayout({
        ...{ width, labels, rows: 12, head: 100, foot: 40 },
      });
      assert.ok(side + sideWidth <= width + 1e-9, `${side} + ${sideWidth} in ${width}`);
      assert.ok(x(63) + column / 2 < side && x(0) - column / 2 >= 0);
      assert.ok(row >= 24, 'as high as a finger needs');
      assert.deepEqual([top(11), top(0) + row], [100, base]);
    }
  });

  test('of a layer the head that gives most has its arcs in the whole model', () => {
    const { ask, told } = deskOf();
    ask();
    const rows = parts.passRows(told.pass, []);
    assert.deepEqual(rows.map(({ strongest }) => strongest.head), [3, 2]); // prettier-ignore
    rows.forEach(({ value, weights }, layer) => {
      const { parts: all, weights: heads } = told.pass.layers[layer];
      near(value, all.reduce((sum, part) => sum + part.value, 0), `layer ${layer}`, 0); // prettier-ignore
      const most = all.filter(({ head }) => head !== null).map((part) => Math.abs(part.value));
      const at = most.indexOf(Math.max(...most));
      assert.deepEqual([...weights], [...heads.subarray(at * 15, (at + 1) * 15)]);
    });
    assert.equal(parts.largestRow(rows), 0);
  });

  test('the page opens rows by a press and by keys, and the select and arrows choose the token', async () => {
    const { panel, changes } = await shownPanel('qkv-panel-microscope', {});
    const press = (selector, key) =>
      panel
        .querySelector(selector)
        .dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
    const last = () => changes.at(-1);
    const row = '.pass-opens[data-row="1"]';
    panel.querySelector(row).dispatchEvent(new Event('click', { bubbles: true }));
    assert.deepEqual(last(), { microscopeZoom: [1] });
    for (const key of ['Enter', ' ']) {
      changes.length = 0;
      press('.pass-opens[data-row="0"]', key);
      assert.deepEqual(changes, [{ microscopeZoom: [0] }], key);
    }
    press(row, 'ArrowLeft');
    assert.deepEqual(last(), { microscopeAt: 13 });
    const count = changes.length;
    press(row, 'ArrowRight'); // it is the last token already
    assert.ok(last().microscopeAt === null || changes.length === count);
    changes.length = 0;
    for (const key of ['Escape', '-', 'x']) press(row, key);
    assert.deepEqual(changes, [], 'nothing is farther out than the whole model');
    panel.querySelector('.pass-token[data-at="4"]').dispatchEvent(new Event('click', { bubbles: true })); // prettier-ignore
    assert.deepEqual(last(), { microscopeAt: 4 });
  });

  test('a layer and a head are left by Escape, by minus and by the path', async () => {
    const { panel, changes } = await shownPanel('qkv-panel-microscope', { microscopeZoom: [0, 3] });
    const crumbs = [...panel.querySelectorAll('.pass-path button')];
    assert.deepEqual(
      crumbs.map((crumb) => [crumb.textContent, crumb.getAttribute('aria-current')]),
      [
        ['Whole model', null],
        ['layer 0', null],
        ['head 0.3', 'location'],
      ],
    );
    crumbs[0].click();
    assert.deepEqual(changes.at(-1), { microscopeZoom: null });
    crumbs[1].click();
    assert.deepEqual(changes.at(-1), { microscopeZoom: [0] });
    for (const key of ['Escape', '-']) {
      changes.length = 0;
      crumbs[2].dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true })); // prettier-ignore
      assert.deepEqual(changes, [{ microscopeZoom: [0] }], key);
    }
  });
});
