// Panels of which nothing can be computed, in Node: without a word, without a model, and before the first frame. None of them may
// show a number that is none.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rest, viewOf, web } from '../support/scene.js';

const STATES = {
  'without a word': { text: '' },
  'of a trained model that is not there': { source: 'trained' },
  'of words of white space': { text: ' \n ' },
};
const PARTS = ['qkv-instruments', 'qkv-sentence', ...web.PANEL_IDS.map((id) => `qkv-panel-${id}`)];

/** All that a person can read, see as a tip, or hear of an element. */
function shownIn(element) {
  const said = [];
  for (const one of [element, ...element.querySelectorAll('*')]) {
    if (one.closest('[hidden]')) continue;
    for (const node of one.childNodes) if (node.nodeType === 3) said.push(node.textContent);
    for (const { name, value } of one.attributes) {
      if (/^(title|aria-|d$|x|y|cx|cy|width|height|transform|style)/.test(name))
        said.push(`${name}=${value}`);
    }
    if (one.localName === 'input') said.push(one.value);
  }
  return said.filter((text) => /NaN|undefined|Infinity|null/.test(text));
}

for (const [title, patch] of Object.entries(STATES)) {
  test(`page ${title}: no number is shown that is none, in either language`, async () => {
    const wrong = [];
    const state = { ...web.initialState('en'), ...patch };
    const heads = { source: state.source, trainedHeads: null };
    const view = await viewOf('any panel without a model', patch, state, 1);
    const none = { ...view, heads, model: web.NO_MODEL, frameTime: NaN };
    for (const name of PARTS) {
      const id = name.replace('qkv-panel-', '');
      document.body.innerHTML = `<section id="${id}"><${name} data-panel></${name}></section>`;
      const element = document.querySelector(name);
      for (const language of ['en', 'zh']) {
        web.setLanguage(language);
        for (const more of [{}, { frame: null, report: null }]) {
          element.update({ ...none, ...more, state: { ...state, language }, look: language });
          await rest();
          wrong.push(...shownIn(element).map((text) => `${name} in ${language}: ${text}`));
        }
      }
      web.setLanguage('en');
    }
    assert.deepEqual(wrong, []);
  });
}
