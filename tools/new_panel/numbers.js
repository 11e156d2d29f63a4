// The panel panelname, in Node: the keys that it lists, how a link says how many, what it shows and what it gives away.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { engine, shownPanel, web } from '../support/scene.js';

const shown = (patch) => shownPanel('qkv-panel-panelname', patch);
const stateOf = (patch) => ({ ...web.initialState('en'), ...patch });

describe('panelname: numbers', () => {
  for (const source of ['constructed', 'random']) {
    for (const count of [1, 3, 12]) {
      test(`the ${count} heaviest keys, with ${source} weights`, () => {
        const { query, panelname } = engine.ask({ source, panelnameCount: count });
        // By the definition: no key that is left out weighs more than one that is listed.
        const listed = panelname.keys.map(({ key }) => key);
        const others = [...query.weights.keys()].filter((key) => !listed.includes(key));
        assert.equal(panelname.query, query.row);
        assert.equal(listed.length, Math.min(count, query.row + 1));
        assert.equal(new Set(listed).size, listed.length);
        for (const { key, weight } of panelname.keys) assert.equal(weight, query.weights[key]);
        const least = Math.min(...listed.map((key) => query.weights[key]));
        for (const key of others) assert.ok(query.weights[key] <= least, `key ${key}`);
        const sum = listed.reduce((total, key) => total + query.weights[key], 0);
        assert.ok(Math.abs(panelname.share - sum) < 1e-12);
      });
    }
  }

  test('nothing without a query', () => {
    assert.equal(engine.ask({ text: '' }).panelname, null);
  });
});

test('panelname: a link says how many keys, within limits', () => {
  const read = (raw) => web.parseFragment(`#v=1&panelname=${raw}`, 'en').panelnameCount;
  assert.deepEqual(['5', '0', '99', 'x'].map(read), [5, 1, 12, null]);
  assert.match(web.formatFragment(stateOf({ panelnameCount: 5 })), /&panelname=5$/);
  assert.doesNotMatch(web.formatFragment(stateOf({})), /panelname/);
});

test('panelname: shows a row for each key, and asks for another number of them', async () => {
  const { panel, changes } = await shown({ panelnameCount: 2 });
  assert.equal(panel.querySelectorAll('tbody tr').length, 2);
  assert.match(
    panel.querySelector('.panelname-share').textContent,
    /^Number of keys listed: 2\. Together/,
  );
  const slider = panel.querySelector('input');
  slider.value = '4';
  slider.dispatchEvent(new Event('input', { bubbles: true }));
  assert.deepEqual(changes, [{ panelnameCount: 4 }]);
});

test('panelname: says so where there is no query', async () => {
  const { panel } = await shown({ text: '' });
  assert.match(panel.textContent, /There is no query yet/);
  assert.equal(panel.querySelector('table'), null);
});

test('panelname: gives away the keys as a table', async () => {
  const { panel, view } = await shown({});
  const { table } = await panel.figure(view);
  const { keys } = view.frame.panelname;
  assert.deepEqual(table, [
    ['position', 'key', 'weight'],
    ...keys.map(({ key, weight }) => [key, view.list.tokens[key], weight]),
  ]);
});
