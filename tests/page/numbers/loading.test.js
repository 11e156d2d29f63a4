// What is fetched when it is wanted, in Node: panels and their texts in every language that was asked for, the labs of panels in
// their one worker, and which panels there are.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { beforeEach, describe, test } from 'node:test';
import { join } from 'node:path';
import { root } from '../../support/js/files.js';
import { bundled, modules } from '../support/engine.js';

let files;
let fetched;
globalThis.globOf = (pattern) =>
  Object.fromEntries(
    Object.entries(files[pattern]).map(([path, take]) => [
      path,
      async () => (fetched.push(path), take()),
    ]),
  );
const scriptOf = (name, path, more = {}) =>
  bundled(name, {
    stdin: {
      contents: `export * from './${path}'; export * from './i18n/i18n';`,
      ...{ resolveDir: join(root, 'web/src'), loader: 'ts' },
    },
    define: { 'import.meta.glob': 'globalThis.globOf' },
    ...more,
  });
const { asksOf, COMPUTED_IDS, FEATURES, PANEL_IDS } = await modules(
  ...['features/index', 'features/computed'],
);
const loadScript = await scriptOf('load', 'features/load');
const labScript = await scriptOf('lab', 'worker/panel_worker', {
  banner: { js: 'const self = globalThis.scopeOfLab;' },
});
let opened = 0;
const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('loading: panels and their texts', () => {
  let web;
  const text = (id, language) => ({ [`${id}.word`]: `${id} in ${language}` });
  beforeEach(async () => {
    fetched = [];
    const texts = ['a', 'b'].flatMap((id) =>
      ['en', 'zh'].map((language) => [`./${id}/${language}.json`, () => text(id, language)]),
    );
    files = {
      './*/panel.ts': { './a/panel.ts': () => undefined, './b/panel.ts': () => undefined },
      './*/{en,zh}.json': Object.fromEntries(texts),
    };
    web = await import(`${loadScript}?${++opened}`);
  });
  const says = (id, language) => {
    web.setLanguage(language);
    return web.t(`${id}.word`);
  };

  test('a panel has its texts before its code', async () => {
    await web.loadPanel('a', 'en');
    assert.deepEqual(fetched, ['./a/en.json', './a/panel.ts']);
    assert.equal(says('a', 'en'), 'a in en');
    await web.loadPanel('none', 'en');
    assert.equal(fetched.length, 2, 'there is nothing of such a name');
  });

  test('a panel comes with the texts of every language that was asked for', async () => {
    await web.loadLanguage('zh');
    assert.deepEqual(fetched, []);
    await web.loadWords('a', 'en');
    assert.deepEqual(fetched.sort(), ['./a/en.json', './a/zh.json']);
    assert.deepEqual([says('a', 'en'), says('a', 'zh')], ['a in en', 'a in zh']);
  });

  test('another language comes with the texts of every panel that is there', async () => {
    await web.loadPanel('a', 'en');
    await web.loadWords('b', 'en');
    fetched.length = 0;
    await web.loadLanguage('zh');
    assert.deepEqual(fetched.sort(), ['./a/zh.json', './b/zh.json']);
    assert.equal(says('b', 'zh'), 'b in zh');
  });
});

describe('loading: the labs of panels', () => {
  const words = 'Failed to fetch dynamically imported module';
  let said;
  let hear;
  let heard;
  beforeEach(async () => {
    [said, heard, fetched] = [[], [], []];
    const lab = (id) => () => ({ serve: () => (message) => heard.push([id, message]) });
    files = {
      '../features/*/worker/serve.ts': {
        '../features/learn/worker/serve.ts': lab('learn'),
        '../features/cost/worker/serve.ts': lab('cost'),
        '../features/block/worker/serve.ts': () => Promise.reject(new TypeError(words)),
      },
    };
    globalThis.scopeOfLab = {
      addEventListener: (type, act) => type === 'message' && (hear = (data) => act({ data })),
      postMessage: (message) => said.push(message),
    };
    await import(`${labScript}?${++opened}`);
  });

  test('one is fetched by its name, the first message, and hears the others', async () => {
    assert.deepEqual(fetched, []);
    hear('cost');
    for (const message of ['one', 'two']) hear(message);
    await turn();
    assert.deepEqual(fetched, ['../features/cost/worker/serve.ts']);
    assert.deepEqual(heard, [['cost', 'one'], ['cost', 'two']]); // prettier-ignore
    assert.deepEqual(said, []);
  });

  test('one whose script does not come did not load, in whatever words the browser says so', async () => {
    hear('block');
    await turn();
    const failure = { code: 'load_failed', message: words };
    assert.deepEqual([said, heard], [[{ type: 'failed', failure }], []]);
  });

  test('one that is not there is told once', async () => {
    hear('none');
    hear('one');
    await turn();
    hear('two');
    await turn();
    const failure = { code: 'unexpected', message: 'no panel has a lab called none' };
    assert.deepEqual([said, heard], [[{ type: 'failed', failure }], []]);
  });
});

test('panels: those that request something of frames are those whose folder answers it', () => {
  const answers = (id) => existsSync(join(root, `web/src/features/${id}/worker/frame_feature.ts`));
  assert.deepEqual(COMPUTED_IDS, PANEL_IDS.filter(answers));
});

test('panels: one asks to guess first in a state of its own, which is not its first', () => {
  const asking = PANEL_IDS.filter((id) => Object.keys(asksOf(id)).length > 0);
  assert.ok(asking.length > 0);
  for (const id of asking) {
    for (const [name, value] of Object.entries(asksOf(id))) {
      assert.ok(FEATURES[id].fields[name].options.includes(value), `${id}: ${name}`);
      assert.notEqual(FEATURES[id].fields[name].initial, value, `${id}: ${name}`);
    }
  }
  assert.deepEqual(asksOf('map'), {});
});

describe('tokens: at the ends of what is read', () => {
  test('a character that begins before the end and goes on behind it is left out', async () => {
    const { tokenize, MAX_TEXT, MAX_TOKENS } = await modules('domain/tokenizer');
    assert.deepEqual([MAX_TEXT, MAX_TOKENS], [2000, 1024]);
    for (const tail of ['👋🏻', 'x\u0301', '👩‍👩‍👧', '🇩🇪']) {
      const text = `${'x'.repeat(2000 - (tail[0] === 'x' ? 1 : 2))}${tail} more`;
      const { total, textCut } = tokenize(text, 'character', null);
      assert.deepEqual([total, textCut], [tail[0] === 'x' ? 1999 : 1998, true], tail);
    }
    assert.equal(tokenize('x'.repeat(1999), 'character', null).textCut, false);
    assert.deepEqual(tokenize('a\nb', 'byte', null).tokens, ['61', '0A', '62']);
    assert.deepEqual(tokenize('a b', 'word', 1025).tokens.length, 1024);
    assert.deepEqual(tokenize('👩‍👩‍👧x y', 'word', null).tokens.join('|'), '👩‍👩‍👧|x|y');
  });
});
