// The words of the sentence, in Node: how full each box is, which one is the query, and the boxes that the HTML came with.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { openWindow } from '../support/window.js';

const { leave } = openWindow();
const { modules } = await import('../support/engine.js');
const { SentencePanel, initialState, defaultText, setLanguage, chipHtml } = await modules(
  'app/sentence',
  'state/state',
  'ui/token_chip',
);
customElements.define('qkv-sentence', SentencePanel);

let panel;
let asked;
beforeEach(() => {
  setLanguage('en');
  document.documentElement.lang = 'en';
});
afterEach(leave);

/** A panel, which the HTML gave this. */
function put(given = '') {
  panel = new SentencePanel();
  panel.innerHTML = given;
  asked = [];
  panel.addEventListener('state-change', ({ detail }) => asked.push(detail));
  document.body.append(panel);
  return panel;
}

const TOKENS = ['one', 'two', 'three'];
/** What the page hands the panel; `row` are the weights of the query. */
function viewOf({
  tokens = TOKENS,
  query = 1,
  row = [0.25, 0.75, 0],
  mask = 'causal',
  of = query,
  ...more
} = {}) {
  const state = { ...initialState('en'), ...more.state };
  const layer = { tokens: more.computed ?? tokens, mask };
  const frame = { request: { layer, view: { head: 2 } }, query: { row: of, weights: row } };
  return {
    ...{ state, frame, query, list: { tokens }, look: more.look ?? 1 },
    heads: { source: state.source, trainedHeads: null },
    model: { info: null },
    ...(more.frame === undefined ? {} : { frame: more.frame }),
  };
}
const many = (count) => Array.from({ length: count }, (_, i) => `t${i}`);

test('sentence: each word has the share of its weight, and the query is checked', () => {
  put();
  const texts = (selector) => [...panel.querySelectorAll(selector)].map(({ textContent }) => textContent);
  const checked = () => [...panel.querySelectorAll('input')].findIndex((radio) => radio.checked);
  const masked = () => [...panel.querySelectorAll('.chip')].map(({ classList }) => classList.contains('masked'));
  for (const [view, shares] of [
    [{ frame: null }, ['', '', '']],
    [{}, ['.250', '.750', '–']],
    [{ row: [0.2501, 0.7499, 0] }, ['.250', '.750', '–']],
    [{ query: 0, row: [1, 0, 0] }, ['1.000', '–', '–']],
    [{ query: 2, of: 0 }, ['', '', '']], // the row of another query
    [{ of: null }, ['', '', '']],
    [{ mask: 'none', row: [0.2, 0.3, 0.5] }, ['.200', '.300', '.500']],
    [{ computed: ['one', 'two'] }, ['', '', '']], // a frame of other words
    [{ tokens: ['one', 'two'] }, ['.250', '.750']],
    [{ tokens: [...TOKENS, 'four'], query: 3, of: 3, mask: 'none' }, ['.250', '.750', '.000', '.000']],
  ]) {
    panel.update(viewOf({ look: shares.length + Math.random(), ...view }));
    assert.deepEqual(texts('.share'), shares, JSON.stringify(view));
    assert.equal(checked(), view.query ?? 1);
    if (shares[0]) assert.deepEqual(masked(), shares.map((share) => share === '–'));
    shares.forEach((share, i) => {
      const fill = panel.querySelectorAll('.chip rect')[i].getAttribute('y');
      if (/^\d?\./.test(share)) assert.ok(Math.abs(1 - fill - Number(share)) < 1e-3, 'as full as its share');
    });
  }
  panel.update(viewOf({ look: 9 }));
  const names = [...panel.querySelectorAll('.chip input')].map((radio) => radio.getAttribute('aria-label'));
  assert.deepEqual([names[0].includes('0.250'), names[2].includes('masked')], [true, true], `${names}`);
  for (const [source, head] of [['constructed', 'same token'], ['random', 'Head 3']]) {
    panel.update(viewOf({ state: { source } }));
    assert.ok(texts('#chips-caption')[0].includes(head));
  }
}); // prettier-ignore

test('sentence: without words there is an example, and more than 64 words have no boxes', () => {
  put();
  const hidden = () => ['.empty', '.example', '.chips', '.more'].map((name) => panel.querySelector(name).hidden);
  for (const [view, expected, boxes] of [
    [{}, [true, false, false, true], 3],
    [{ tokens: [], query: -1, frame: null }, [false, false, true, true], 0],
    [{ tokens: [], query: -1, frame: null, state: { source: 'trained' } }, [false, true, true, true], 0],
    [{ tokens: many(64), frame: null }, [true, false, false, true], 64],
    [{ tokens: many(65), frame: null }, [true, false, false, false], 64],
  ]) {
    panel.update(viewOf(view));
    assert.deepEqual([hidden(), panel.querySelectorAll('.chip').length], [expected, boxes]);
  }
  assert.match(panel.querySelector('.more').textContent, /64.*65/);
}); // prettier-ignore

describe('sentence: a hand', () => {
  test('asks for the example, and writes on in it', () => {
    document.body.innerHTML = '<textarea id="text"></textarea>';
    put().update(viewOf({ tokens: [], frame: null }));
    panel.querySelector('.example').click();
    assert.deepEqual(asked.splice(0), [{ text: defaultText('en'), query: null }]);
    assert.equal(document.activeElement.id, 'text');
    panel.update(viewOf({ tokens: [], frame: null, state: { language: 'zh' } }));
    document.getElementById('text').remove();
    panel.querySelector('.example').click();
    assert.deepEqual(asked, [{ text: defaultText('zh'), query: null }]);
  });
});

describe('sentence: boxes that the HTML came with', () => {
  const given = (language, tokens) =>
    `<div class="chips" lang="${language}">${tokens
      .map(
        (token, position) =>
          `<label class="chip">${chipHtml({ position, token, share: '.500', weight: 0.5 })}</label>`,
      )
      .join('')}</div>`;
  const both = given('en', TOKENS) + given('zh', ['一', '二']);
  const shares = () => [...panel.querySelectorAll('.share')].map(({ textContent }) => textContent);
  const checked = () => [...panel.querySelectorAll('input')].map((box) => box.checked);
  const first = (view) => put(both).update(viewOf({ frame: null, ...view }));

  test('stay until there is something newer', () => {
    first({ query: 2 });
    assert.deepEqual(
      [shares(), checked()],
      [
        ['.500', '.500', '.500'],
        [false, false, true],
      ],
    );
    panel.update(viewOf({ query: 0, frame: null, tokens: TOKENS }));
    assert.deepEqual(shares(), ['.500', '.500', '.500']);
    panel.update(viewOf());
    assert.deepEqual(shares(), ['.250', '.750', '–']);
  });

  test('are of the language of the page', () => {
    document.documentElement.lang = 'zh';
    first({ tokens: ['一', '二'] });
    assert.deepEqual(shares(), ['.500', '.500']);
    document.documentElement.lang = 'en';
    first({ tokens: ['一', '二'] });
    assert.deepEqual(shares(), ['', '']);
  });

  test('are not those of other words, nor taken twice', () => {
    for (const tokens of [
      ['one', 'two'],
      ['one', 'two', 'four'],
      [...TOKENS, 'four'],
    ]) {
      first({ tokens });
      assert.deepEqual([...new Set(shares())], ['']);
      panel.update(viewOf({ frame: null, tokens: [...TOKENS] }));
      assert.deepEqual(shares(), ['', '', ''], 'only the first words can be theirs');
    }
  });
});
