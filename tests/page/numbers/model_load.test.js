// Where a trained model comes from, in a window without a browser: buttons, files that are chosen or dropped, what is shown while
// one is loaded and when it is refused, and which parts of the panel are there with it.
import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../support/js/files.js';
import { fire } from '../support/operate.js';
import { openWindow, SIZE } from '../support/window.js';

const { layOut, leave, rest } = openWindow();
const { modules } = await import('../support/engine.js');
const web = await modules(
  'features/model/panel',
  'features/model/page/{load_part,model_cards}',
  'features/model/shared/{model_view,shipped_models}',
  'ui/numbers',
  'state/state',
);
afterEach(() => {
  leave();
  layOut(SIZE);
  web.setLanguage('en');
});

let look = 1;
const viewOf = ({ state = {}, model = {} } = {}) => ({
  state: { ...web.initialState(state.language ?? 'en'), ...state },
  model: { ...web.NO_MODEL, ...model },
  ...{ look, theme: 'light' },
});

/** A part, or the whole panel, on the page, and everything that it asks for. */
function put(name = 'qkv-model-load') {
  const part = document.createElement(name);
  const asked = [];
  for (const event of ['state-change', 'model-tell']) {
    document.addEventListener(event, ({ detail }) => asked.push(detail));
  }
  document.body.append(part);
  return {
    ...{ part, asked, one: (selector) => part.querySelector(selector) },
    show(view) {
      web.setLanguage(view?.state?.language ?? 'en');
      part.update(viewOf(view));
    },
  };
}

const INFO = {
  ...{ id: 1, name: 'austen', file: 'austen.safetensors', fileBytes: 8e5, bytes: 3e6, time: 9 },
  ...{ family: '', parameters: 813_952, format: 'f32', types: [], vocabulary: 78, maxLength: 256 },
  ...{ numLayers: 4, numHeads: 4, dModel: 128, positions: 'rotary', causal: true, speaks: true },
  ...{ tokenizer: 'characters', notDrawn: null },
};
const refused = (code, message, what = 'photo.png') => ({
  model: { refused: { what, failure: { code, message } } },
});
const loading = (what, loaded, total) => ({ model: { loading: { what, loaded, total } } });

const AFRESH = { modelOut: [], modelAt: null, modelNear: null, modelHead: null };

test('model: a link that was made with a file says so until a file is there', () => {
  const { one, show } = put();
  const said = (view) => (show(view), one('.model-linked').hidden ? '' : one('.model-linked').textContent); // prettier-ignore
  const linked = { modelFile: 'mine.gguf' };
  assert.match(said({ state: linked }), /^The link shows a model from the file “mine\.gguf”.*choose it here/); // prettier-ignore
  look++;
  assert.match(said({ state: { ...linked, language: 'zh' } }), /“mine\.gguf”/);
  assert.notEqual(said({ state: linked, model: { info: { ...INFO, name: 'tang' } } }), '');
  assert.equal(said({ state: linked, model: { info: { ...INFO, name: null } } }), '');
  assert.equal(said({}), '');
});

test('model: the cards of models say their sizes, where they come from and which one is loaded', async () => {
  const { part, one, show } = put();
  const classes = (name) =>
    ['names', 'novels', 'austen', 'tang', 'own'].filter((id) => one(`[data-model=${id}]`).classList.contains(name));
  for (const [view, linked, loaded] of [
    [{}, ['austen'], []],
    [{ state: { language: 'zh' } }, ['tang'], []],
    [{ state: { model: 'tang' } }, ['tang'], []],
    [{ state: { modelFile: 'mine.gguf' } }, ['own'], []],
    [{ model: { info: INFO } }, ['austen'], ['austen']],
    [{ model: { info: { ...INFO, name: 'tang' } } }, ['austen'], ['tang']],
    [{ state: { model: 'names' }, model: { info: { ...INFO, name: 'names' } } }, ['names'], ['names']],
    [{ model: { info: { ...INFO, name: null } } }, ['austen'], ['own']],
  ]) {
    look++;
    show(view);
    assert.deepEqual([classes('linked'), classes('loaded')], [linked, loaded], JSON.stringify(view));
    const again = [...part.querySelectorAll('.load')].map(({ textContent }) => /^(Load again|重新)/.test(textContent));
    assert.deepEqual(again, ['names', 'novels', 'austen', 'tang'].map((name) => loaded.includes(name)));
  }
  show({ state: { modelSlow: false } });
  for (const name of ['names', 'novels', 'austen', 'tang']) {
    const { parameters, bytes, heldOut, data, sha256, baselines } = web.CARDS[name];
    const [size, facts] = ['.model-size', '.model-facts'].map((of) => one(`[data-model=${name}] ${of}`).textContent);
    const loss = `held-out loss ${heldOut.toFixed(3)} nats per ${name.startsWith('n') ? 'token' : 'character'}`;
    assert.ok(size.includes(parameters.toLocaleString('en-US')) && size.includes(loss), size);
    assert.ok(one(`[data-model=${name}] .load`).textContent.includes(web.bytes(bytes)));
    const said = [...data.map(({ name: of, version }) => `${of} ${version}`), sha256.slice(0, 16)];
    for (const fact of [...said, ...baselines.map(([of]) => of)]) assert.ok(facts.includes(fact), fact);
  }
  // What is measured on the card of `names` is the mean of both languages.
  const { english, chinese } = JSON.parse(readFileSync(join(root, 'models/names/card.json'), 'utf8')).models.names;
  const facts = one('[data-model=names] .model-facts').textContent;
  for (const group of ['known', 'templates', 'places', 'names']) {
    const share = Math.round(50 * (english[group].accuracy + chinese[group].accuracy));
    assert.ok(facts.includes(`${share}%`), `${group}: ${share}`);
  }
  // That of `novels` names the best head of either kind, and what it costs to be without the second kind.
  const { scores, losses } = JSON.parse(readFileSync(join(root, 'models/novels/card.json'), 'utf8')).models.novels.heads;
  const said = one('[data-model=novels] .model-facts').textContent;
  for (const kind of ['previous', 'induction']) {
    const [head, best] = Object.entries(scores).sort(([, a], [, b]) => b[kind] - a[kind])[0];
    assert.ok(said.includes(`head ${head} `) && said.includes(best[kind].toFixed(2)), `${kind}: ${head}`);
  }
  for (const loss of [losses.whole, losses.withoutInduction]) {
    for (const value of Object.values(loss)) assert.ok(said.includes(value.toFixed(2)), `${value}`);
  }
}); // prettier-ignore

test('model: what is loaded says how much of it has arrived, and can be given up', () => {
  const { part, one, show } = put();
  const progress = () => [one('.model-progress-text').textContent, one('progress').value, one('progress').max];
  for (const [view, expected] of [
    [loading('austen', 0, 0), ['Opening Austen (English)', 0, 1]],
    [loading('austen', 123_456, 883_000), ['Loading Austen (English): 123 kB of 883 kB', 123_456, 883_000]],
    [loading('mine.gguf', 5e6, 4e7), ['Loading mine.gguf: 5.00 MB of 40.0 MB', 5e6, 4e7]],
  ]) {
    show(view);
    assert.deepEqual(progress(), expected);
    assert.equal(one('.model-progress').hidden, false);
    for (const button of part.querySelectorAll('.load')) assert.equal(button.disabled, true);
  }
  one('.abort').focus();
  show({});
  assert.deepEqual([one('.model-progress').hidden, one('.load').disabled], [true, false]);
  assert.equal(document.activeElement, one('.load'), 'the focus goes on from what is hidden');
}); // prettier-ignore

test('model: a refusal names the file and says what was found', () => {
  const { one, show } = put();
  for (const [view, title, sentence] of [
    [refused('invalid_argument', 'load: expected this, not load: that'), 'photo.png could not be loaded', /^expected this, not load: that$/],
    [refused('load_failed', 'status 404', 'tang'), 'Tang poems (Chinese) could not be loaded', /^status 404$/],
    [refused('no_weights', 'config.json, tokenizer.json'), 'photo.png could not be loaded', /^config\.json, tokenizer\.json: none of these files has weights/],
    [refused('config_json', 'my_config.json'), 'photo.png could not be loaded', /^my_config\.json is not JSON/],
  ]) {
    show(view);
    assert.deepEqual([one('.model-refused').hidden, one('.model-refused h3').textContent], [false, title]);
    assert.match(one('.model-sentence').textContent, sentence);
  }
  show({});
  assert.equal(one('.model-refused').hidden, true);
}); // prettier-ignore

describe('model: the button of one', () => {
  const DEFAULT = { en: web.initialState('en').text, zh: web.initialState('zh').text };
  const press = (name, view) => {
    const { asked, one, show } = put();
    show(view);
    one(`[data-model=${name}] .load`).click();
    leave();
    return asked;
  };

  test('asks for its file, and for a text of its kind in the place of one that nobody has touched', () => {
    for (const [name, language, text, first] of [
      ['names', 'en', DEFAULT.en, web.EXAMPLES.names[0]],
      ['names', 'zh', DEFAULT.zh, web.EXAMPLES.names[2]],
      ['novels', 'en', DEFAULT.en, web.EXAMPLES.novels[0]],
      ['austen', 'en', DEFAULT.en, web.EXAMPLES.austen[0]],
      ['tang', 'en', DEFAULT.en, web.EXAMPLES.tang[0]],
      ['tang', 'zh', DEFAULT.zh, web.EXAMPLES.tang[0]],
      ['austen', 'zh', DEFAULT.en, undefined],
      ['austen', 'en', 'One of my own', undefined],
    ]) {
      const pressed = press(name, { state: { language, text } });
      const message = pressed.at(-1);
      const patch = pressed.length > 1 ? pressed[0] : {};
      assert.ok(!('model' in patch), 'the link names it when it is there');
      assert.equal(patch.text, first);
      assert.equal('query' in patch, first !== undefined);
      assert.equal(patch.query ?? null, null);
      const { url, ...files } = message.files;
      assert.deepEqual([message.kind, files], ['load', { kind: 'address', name }]);
      assert.ok(url.endsWith(`/models/${name}/${name}.safetensors`), url);
    }
  });

  test('begins afresh unless it is that of the link or of before', () => {
    const isAfresh = (name, view) => {
      const [patch] = press(name, view);
      const names = Object.keys(AFRESH).filter((field) => field in patch);
      if (names.length === 0) return false;
      assert.deepEqual(Object.fromEntries(names.map((field) => [field, patch[field]])), AFRESH);
      return true;
    };
    const info = (name) => ({ ...INFO, name });
    for (const [name, view, afresh] of [
      ['austen', {}, false],
      ['tang', {}, true],
      ['tang', { state: { model: 'tang' } }, false],
      ['tang', { state: { language: 'zh' } }, false],
      ['austen', { state: { language: 'zh' } }, true],
      ['austen', { model: { info: info('austen') } }, false],
      ['austen', { model: { info: info('tang') } }, true],
      ['austen', { model: { info: info(null) } }, true],
      ['tang', { state: { model: 'tang' }, model: { info: info('austen') } }, true],
      ['tang', { model: { info: info('tang') } }, true],
      ['austen', { state: { modelFile: 'a.gguf' } }, true],
    ]) {
      assert.equal(isAfresh(name, view), afresh, `${name} ${JSON.stringify(view)}`);
    }
  });
});

describe('model: files of the reader', () => {
  const files = [new File(['x'], 'a.safetensors'), new File(['{}'], 'config.json')];
  const wanted = [AFRESH, { kind: 'load', files: { kind: 'files', files } }];

  test('are loaded when they are chosen, also the same ones again', () => {
    const { asked, one, show } = put();
    show();
    const input = one('input[type=file]');
    let emptied = 0;
    Object.defineProperty(input, 'value', {
      set(value) {
        emptied += Number(value === '');
      },
    });
    const choose = (chosen) => {
      Object.defineProperty(input, 'files', { value: chosen, configurable: true });
      fire(input, 'change');
      return asked.splice(0);
    };
    assert.deepEqual(choose(files), wanted);
    assert.deepEqual(choose([files[1]])[1].files.files, [files[1]], 'one is enough');
    assert.equal(emptied, 2);
    assert.deepEqual([choose([]), choose(null)], [[], []]);
  });

  test('the file of an address is asked for at the press, if something can be fetched there', () => {
    const { asked, one, show } = put();
    show();
    const [box, press] = [one('#model-address'), one('.model-address button')];
    box.value = ' models/a.gguf ';
    fire(box, 'input');
    box.value = ' ';
    fire(box, 'input');
    assert.deepEqual(asked.splice(0), [{ modelAddress: 'models/a.gguf' }, { modelAddress: null }]);
    box.value = '';
    for (const [modelAddress, url] of [
      [null, null],
      ['https://', null],
      ['javascript:alert(1)', null],
      ['data:,x', null],
      ['file:///a.gguf', null],
      ['https://a.example/b/c.gguf?x=1', 'https://a.example/b/c.gguf?x=1'],
      ['models/a.gguf', 'https://page.example/models/a.gguf'],
    ]) {
      show({ state: { modelAddress } });
      assert.deepEqual([box.value, press.disabled], [modelAddress ?? '', url === null], modelAddress);
      one('.model-address').dispatchEvent(new Event('submit', { cancelable: true }));
      const load = [AFRESH, { kind: 'load', files: { kind: 'web', url } }];
      assert.deepEqual(asked.splice(0), url === null ? [] : load);
    }
    show(refused('address_failed', 'https://a.example/c.gguf: status 404, expected 200'));
    assert.match(one('.model-sentence').textContent, /status 404, expected 200\. Check the address/);
  }); // prettier-ignore

  test('files that are kept are asked for when they are to be seen, and can be removed', () => {
    const { asked, one, show } = put();
    show();
    const details = one('.model-kept');
    details.open = true; // which fires 'toggle'
    assert.deepEqual(asked.splice(0), [{ kind: 'list_kept' }]);
    const address = 'https://a.example/b/c.gguf?x=1';
    const files = [{ address, bytes: 2_000_000, isWhole: false }];
    show({ model: { kept: { files, problem: null } } });
    fire(details, 'toggle');
    assert.deepEqual(asked, [], 'it is known');
    assert.match(one('.model-kept li').textContent, /c\.gguf\s+2\.00 MB \(not all of it\)\s+Remove/);
    assert.match(details.textContent, /Kept: 2\.00 MB/);
    const button = one('.model-kept button');
    assert.equal(button.getAttribute('aria-label'), 'Remove c.gguf');
    button.click();
    assert.deepEqual(asked.splice(0), [{ kind: 'remove_kept', address }]);
    show({ model: { kept: { files: [], problem: 'no room' } } });
    assert.match(details.textContent, /loaded and not kept: no room/);
  }); // prettier-ignore

  test('may be dropped anywhere on the panel, and nothing else may', async () => {
    const { part, asked, one, show } = put('qkv-panel-model');
    show();
    const drag = (type, { types, dropped, ...more } = {}, target = one('h3')) => {
      const event = new Event(type, { bubbles: true, cancelable: true });
      if (types) Object.assign(event, { dataTransfer: { types, files: dropped } });
      target.dispatchEvent(Object.assign(event, more));
      return [event.defaultPrevented, part.classList.contains('dropping')];
    };
    const some = { types: ['text/plain', 'Files'], dropped: files };
    assert.deepEqual(drag('dragover', some), [true, true]);
    assert.deepEqual(drag('dragleave', { relatedTarget: one('p') }), [false, true], 'it is inside');
    assert.deepEqual(drag('dragleave', { relatedTarget: document.body }), [false, false]);
    drag('dragover', some);
    assert.deepEqual(
      drag('dragleave', { relatedTarget: null }),
      [false, false],
      'out of the window',
    );
    for (const other of [{ types: ['text/plain'] }, {}]) {
      assert.deepEqual(drag('dragover', other), [false, false]);
      drag('dragover', some);
      assert.deepEqual(drag('drop', other), [false, false]);
    }
    drag('dragover', some);
    assert.deepEqual(asked, []);
    assert.deepEqual(drag('drop', some), [true, false]);
    await rest();
    assert.deepEqual(asked.splice(0), wanted);
    assert.deepEqual(drag('drop', { ...some, dropped: [] }), [true, false]);
    await rest();
    assert.deepEqual(asked, []);
  });
});
