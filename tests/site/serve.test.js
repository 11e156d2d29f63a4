// What `npm start` serves below docs/: the documentation, built when somebody first asks for it.
import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { documentation, serve } from '../../tools/serve.js';
import { root } from '../support/js/files.js';

const folder = `build/serve-${process.pid}`;
const STUB = 'what the page has in place of its documentation';
before(() => {
  mkdirSync(join(root, folder, 'docs'), { recursive: true });
  writeFileSync(join(root, folder, 'index.html'), 'the page');
  writeFileSync(join(root, folder, 'docs/index.html'), STUB);
});
after(() => rmSync(join(root, folder), { recursive: true, force: true }));

/** Asks a server for these paths, one after the other, and gives status and body of each. */
async function ask(options, paths) {
  const { url, close } = await serve({ port: 0, folder, ...options });
  const answers = [];
  try {
    for (const path of paths) {
      const response = await fetch(url + path);
      answers.push([
        response.status,
        (await response.text()).trim(),
        response.url.slice(url.length),
      ]);
    }
  } finally {
    await close();
  }
  return answers;
}

test('serve: the documentation is built once, when it is first asked for', async () => {
  let built = 0;
  const buildDocs = async () => (built += 1);
  const { url, close } = await serve({ port: 0, folder, later: [documentation(buildDocs)] });
  try {
    assert.equal(await (await fetch(url)).text(), 'the page');
    assert.equal(built, 0);
    const both = await Promise.all(['docs', 'docs/'].map((path) => fetch(url + path)));
    for (const response of both) {
      assert.equal(response.url, `${url}docs/`);
      assert.match(await response.text(), /<title>qkv/);
      assert.equal(response.headers.get('cross-origin-embedder-policy'), 'require-corp');
    }
    assert.equal((await fetch(`${url}docs/nothing.html`)).status, 404);
    assert.equal(built, 1);
  } finally {
    await close();
  }
});

test('serve: where it cannot be built, its address says why, and the next one to ask has it built', async () => {
  let times = 0;
  const buildDocs = async () => {
    times += 1;
    if (times === 1) throw new Error('attention.md has a link that leads nowhere');
  };
  const [failed, made] = await ask({ later: [documentation(buildDocs)] }, ['docs/', 'docs/']);
  assert.deepEqual(failed, [500, 'attention.md has a link that leads nowhere', 'docs/']);
  assert.equal(made[0], 200);
  assert.match(made[1], /<title>qkv/);
});

test('serve: a page that is served alone has another page there', async () => {
  const answers = await ask({}, ['docs', 'docs/']);
  assert.deepEqual(answers, Array(2).fill([200, STUB, 'docs/']));
});
