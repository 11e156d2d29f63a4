// The sentence and its settings, in Node: what each box shows in each state, and what is asked for by what is done with it.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, mock, test } from 'node:test';
import { enter } from '../support/operate.js';
import { openWindow } from '../support/window.js';

const { rest, leave } = openWindow();
const { modules } = await import('../support/engine.js');
const { InstrumentsPanel, initialState, tokenize, setLanguage } = await modules(
  ...['app/instruments', 'state/state', 'domain/tokenizer'],
);
customElements.define('qkv-instruments', InstrumentsPanel);

let panel;
let asked;
beforeEach(() => {
  setLanguage('en');
  panel = new InstrumentsPanel();
  asked = [];
  for (const name of ['state-change', 'temperature-held']) {
    panel.addEventListener(name, ({ detail, bubbles }) =>
      asked.push(detail, ...(bubbles ? [] : ['alone'])),
    );
  }
  document.body.append(panel);
});
afterEach(async () => {
  await rest();
  leave();
  mock.restoreAll();
});
const one = (selector) => panel.querySelector(selector);
const take = () => asked.splice(0);

/** What the page hands the panel in a state. */
function viewOf(patch = {}, { layer, ...more } = {}) {
  const state = { ...initialState('en'), ...patch };
  const request = { layer: { source: 'constructed', mask: state.mask, ...layer } };
  return {
    ...{ state, list: tokenize(state.text, state.tokenizer, state.length) },
    ...{
      engine: { kind: 'ready' },
      frame: { info: { variant: 'simd' }, request },
      frameTime: 0.125,
    },
    ...{ report: null, model: { info: null }, look: 1 },
    heads: { source: state.source, trainedHeads: null },
    ...more,
  };
}
const loaded = {
  model: { info: { id: 4, name: 'austen', file: 'austen.safetensors', notDrawn: null } },
  heads: { source: 'trained', trainedHeads: { layers: 2, perLayer: 3 } },
};
test('instruments: which model is missing, or another than the link names', () => {
  const note = (state, model = null) => {
    const view = viewOf({ source: 'trained', ...state }, { model: { info: model } });
    panel.update(view);
    return panel.querySelector('#text-note').textContent;
  };
  const austen = { name: 'austen', file: 'austen.safetensors', notDrawn: null };
  const own = { name: null, file: 'mine.gguf', notDrawn: null };
  assert.match(note({ model: 'tang' }), /^No model is loaded\. Load “tang” or another one/);
  assert.match(note({ modelFile: 'mine.gguf' }), /comes from the file “mine\.gguf”, which is not in the link\./); // prettier-ignore
  const learned = 'Tokens, mask and positions come from the model.';
  assert.equal(note({ model: 'austen' }, austen), learned);
  assert.equal(note({ modelFile: 'mine.gguf' }, own), learned);
  assert.equal(note({ modelFile: 'mine.gguf' }, austen), `${learned} The link names the model “mine.gguf”; these are the heads of “austen”.`); // prettier-ignore
  assert.match(note({ model: 'austen' }, { ...austen, notDrawn: 'alibi' }), /^The heads of this model cannot be drawn here/); // prettier-ignore
});

test('instruments: the temperature is spoken with the entropy of the head, where it is known', () => {
  const spoken = (patch, more) => {
    panel.update(viewOf(patch, more));
    return one('#tau').getAttribute('aria-valuetext');
  };
  const report = { heads: [{ entropy: 1.23456 }, { entropy: 0 }] };
  assert.doesNotMatch(spoken({}), /entropy/);
  // Eleven tokens: the last of them reads all, ln 11 = 2.40; the mean of ln 1 to ln 11 is ln(11!) / 11 = 1.59.
  const most = Math.log([...Array(11)].reduce((n, _, i) => n * (i + 1), 1)) / 11;
  assert.match(spoken({ mask: 'causal' }, { report }), new RegExp(`1\\.23 .*${most.toFixed(2)}`));
  assert.match(spoken({ mask: 'causal' }, { report, layer: { mask: 'none' } }), /2\.40/, 'with the mask that was computed');
  assert.match(spoken({ head: 1, temperature: 2.5 }, { report }), /2\.5.* 0 /);
  assert.match(spoken({ source: 'yours', head: 3 }, { report }), /1\.23/, 'of the head that is shown');
  for (const [patch, more] of [[{ head: 5 }], [{ text: '' }], [{}, { report: null }]]) {
    assert.doesNotMatch(spoken(patch, { report, ...more }), /entropy/);
  }
}); // prettier-ignore

test('instruments: of a trained model its mask is shown, and cannot be turned', () => {
  const disabled = () => ['mask', 'positions', 'tokenizer', 'length'].filter((name) => one(`#choose-${name}`).disabled);
  const shown = () => ['mask', 'positions', 'source'].map((name) => one(`#choose-${name}`).value);
  panel.update(viewOf());
  assert.deepEqual([disabled(), one('#choose-positions [value=own]').hidden], [[], true]);
  const learned = { source: 'trained', mask: 'window', head: 7 };
  panel.update(viewOf(learned, { ...loaded, layer: { source: 'trained', mask: 'none' } }));
  assert.deepEqual(disabled(), ['mask', 'positions', 'tokenizer']);
  assert.deepEqual(shown(), ['none', 'own', 'trained']);
  assert.deepEqual([one('#choose-head').options.length, one('#choose-head').value], [6, '5'], 'two layers of three heads');
  panel.update(viewOf({ source: 'yours' }));
  assert.deepEqual([disabled(), one('#text').disabled], [['tokenizer', 'length'], true]);
}); // prettier-ignore

test('instruments: a seed is there for random weights, and lengths for any text', () => {
  const lengths = (patch) => {
    panel.update(viewOf(patch));
    return Array.from(one('#choose-length').options, ({ text }) => text);
  };
  const others = ['16', '64', '256', '1024'];
  assert.equal(lengths({}).length, 5);
  assert.match(lengths({})[0], /11/);
  assert.deepEqual(lengths({ length: 64 }).slice(1), others);
  assert.deepEqual(lengths({ length: 5 }).slice(1), [...others, '5']);
  assert.equal(one('#choose-length').value, '5');
  for (const [source, hidden] of [['constructed', true], ['random', false]]) {
    panel.update(viewOf({ source, seed: 12 }));
    assert.equal(one('.seed').hidden, hidden);
  }
  assert.equal(one('#seed').value, '12');
}); // prettier-ignore

test('instruments: a text is read up to 2000 letters and 1024 tokens, which is said', () => {
  const note = (patch) => {
    panel.update(viewOf(patch));
    return one('#text-note').hidden ? '' : one('#text-note').textContent;
  };
  const character = { tokenizer: 'character' };
  assert.equal(note({ text: 'a'.repeat(1024), ...character }), '');
  assert.match(note({ text: 'a'.repeat(1025), ...character }), /1025 tokens; only the first 1024/);
  assert.match(note({ text: 'a '.repeat(1100), tokenizer: 'byte' }), /2000.*1024/);
  assert.doesNotMatch(note({ text: 'a '.repeat(1100), tokenizer: 'byte', length: 16 }), /1024/);
});

test('instruments: how the engine stands, and how long the last frame took', () => {
  for (const [more, text] of [
    [{}, /125 µs/],
    [{ frameTime: NaN }, /^engine running$/],
    [{ frame: null }, /^engine running$/],
    [{ engine: { kind: 'loading' } }, /starting|loading/i],
    [{ engine: { kind: 'failed' } }, /not running|failed/i],
  ]) {
    panel.update(viewOf({}, more));
    assert.match(one('.engine-text').textContent, text);
    assert.equal(panel.dataset.engine, more.engine?.kind ?? 'ready');
    assert.doesNotMatch(one('.engine-status').textContent, /\d/, 'numbers are not spoken');
  }
  assert.match(one('.summary').textContent, /causal/);
});

describe('instruments: the text', () => {
  const text = () => one('#text');
  const type = (value, isComposing) => {
    const event = isComposing === undefined ? new Event('input') : new InputEvent('input');
    Object.defineProperty(event, 'isComposing', { value: isComposing });
    text().value = value;
    text().dispatchEvent(event);
  };
  test('is asked for with each letter, but not while it is composed', () => {
    panel.update(viewOf());
    type('a');
    type('ab', false);
    assert.deepEqual(take(), [{ text: 'a', query: null }, { text: 'ab', query: null }]); // prettier-ignore
    type('abc', true);
    assert.deepEqual(take(), []);
    panel.update(viewOf({ text: 'ab' }));
    assert.equal(text().value, 'abc', 'which would be interrupted');
    text().dispatchEvent(new Event('compositionend'));
    assert.deepEqual(take(), [{ text: 'abc', query: null }]);
    panel.update(viewOf({ text: 'ab' }));
    assert.equal(text().value, 'ab');
  });
});

describe('instruments: what is asked for', () => {
  test('by the temperature', () => {
    enter(one('#tau'), '100');
    assert.deepEqual(take(), [{ temperature: 10 }]);
    enter(one('#tau'), '-30');
    assert.deepEqual(take(), [{ temperature: 0.501 }]);
    for (const [value, temperature] of [['2', 2], ['0', 0.05], ['-3', 0.05], ['99', 20], ['1.2345', 1.23]]) {
      enter(one('#temperature-number'), value);
      assert.deepEqual(take(), [{ temperature }], value);
    } // prettier-ignore
  });

  test('by a seed that is typed or drawn', () => {
    for (const [value, seed] of [['5', 5], ['5.6', 6], ['-1', 0], ['999999', 999999], ['1000000', 999999]]) {
      enter(one('#seed'), value);
      assert.deepEqual(take(), [{ seed }], value);
    } // prettier-ignore
    for (const [random, seed] of [[0, 0], [0.5, 500000], [1 - 2 ** -53, 999999]]) {
      mock.method(Math, 'random', () => random);
      one('#new-seed').click();
      assert.deepEqual(take(), [{ seed }]);
    } // prettier-ignore
  });

  test('not by what is no number, and the box shows what holds', () => {
    panel.update(viewOf({ seed: 12, temperature: 0.5 }));
    for (const [selector, holds] of [['#seed', '12'], ['#temperature-number', '0.5']]) {
      const box = one(selector);
      const { valueAsNumber } = box;
      assert.equal(valueAsNumber, Number(holds));
      for (const value of ['', ' ', 'x']) {
        Object.defineProperty(box, 'valueAsNumber', { value: value === ' ' ? 0 : NaN, configurable: true });
        enter(box, value);
        assert.deepEqual(take(), [], `${selector} ${value}`);
        assert.equal(box.value, holds);
      }
      delete box.valueAsNumber;
    } // prettier-ignore
  });
});

test('instruments: who has no words of a script is told so', () => {
  const { Segmenter } = Intl;
  const note = (patch) => {
    panel.update(viewOf(patch));
    const { hidden, textContent } = one('#text-note');
    return hidden ? '' : textContent;
  };
  Intl.Segmenter = undefined;
  try {
    assert.match(note({ text: '猫坐在垫子上' }), /each character is a token here/);
    assert.equal(note({ text: 'The cat sat.' }), '');
    assert.equal(note({ text: '猫', tokenizer: 'character' }), '');
    assert.equal(note({ text: '猫', source: 'yours' }), '');
    setLanguage('zh');
    assert.match(note({ text: '猫'.repeat(2001) }), /只读取前 2000 个字符。.*每个字就是一个词元/);
    assert.doesNotMatch(note({ text: '猫'.repeat(2001) }), /。 /, 'no space between sentences');
  } finally {
    Intl.Segmenter = Segmenter;
  }
  assert.equal(note({ text: '猫' }), '');
});
