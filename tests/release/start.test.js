// npm start (tools/start.js): when dist/ is served as it is; and in the full run what is served before all of it is built.
// @build any
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, describe, test } from 'node:test';
import { root } from '../support/js/files.js';
import { inFullRun } from '../support/js/full.js';
import { PATIENCE, until } from '../support/js/patience.js';
import { copyOfSources } from './sources.js';

const folder = mkdtempSync(join(tmpdir(), 'qkv-start-'));
after(() => rmSync(folder, { recursive: true, force: true }));

function write(path, text) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

test('npm start: dist/ is built when all of it was made of the sources as they are', async () => {
  const project = join(folder, 'small');
  for (const name of ['build/fingerprint.js', 'environment.js']) {
    write(join(project, 'tools', name), readFileSync(join(root, 'tools', name)));
  }
  for (const name of ['package.json', 'package-lock.json', 'CMakeLists.txt', 'CMakePresets.json']) {
    write(join(project, name), '{ "type": "module" }');
  }
  for (const name of ['abi.js', 'shipped.js']) write(join(project, 'tools', name), '');
  write(join(project, '.toolchain/env'), '');
  for (const name of ['core', 'models', 'wasm', 'web']) write(join(project, name, 'file'), name);
  for (const name of ['index.js', 'index.d.ts', 'web/index.html', 'web/qkv.html']) {
    write(join(project, 'dist', name), '');
  }
  const { building, forget, isBuilt } = await import(join(project, 'tools/build/fingerprint.js'));
  const source = join(project, 'web/file');
  const change = (text) => writeFileSync(source, text);

  assert.equal(isBuilt(), false, 'nobody has built anything');
  await building(async () => {});
  assert.equal(isBuilt(), true);
  change('another');
  assert.equal(isBuilt(), false, 'a source has changed');
  change('web');
  assert.equal(isBuilt(), true, 'it is what it was');
  write(join(project, 'web/more'), '');
  assert.equal(isBuilt(), false, 'there is another source');
  await building(async () => change('saved while it is built'));
  assert.equal(isBuilt(), false, 'the build may have read what was there before');
  await building(async () => {});
  rmSync(join(project, 'dist/web/qkv.html'));
  assert.equal(isBuilt(), false, 'a part is gone');
  write(join(project, 'dist/web/qkv.html'), '');
  forget();
  assert.equal(isBuilt(), false, 'a part was built by itself');
  await assert.rejects(
    building(() => Promise.reject(new Error('no compiler'))),
    /no compiler/,
  );
  assert.equal(isBuilt(), false, 'the build has failed');
});

/** Starts the page of a project; `said` is what is printed. */
function start(project) {
  const child = spawn(process.execPath, ['tools/start.js'], { cwd: project });
  const started = { said: '' };
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (data) => (started.said += data));
  }
  const ended = new Promise((resolve) => child.on('close', resolve));
  return Object.assign(started, {
    async url() {
      await until(
        () => /qkv is at \S+/.test(started.said),
        () => started.said,
      );
      return /qkv is at (\S+)\//.exec(started.said)[1];
    },
    async stop() {
      child.kill('SIGINT');
      await ended;
    },
  });
}

/** What a server answers, however long it takes; fetch() gives up after five minutes. */
const get = (url) =>
  new Promise((resolve, reject) => {
    http
      .get(url, async (response) => {
        const body = Buffer.concat(await response.toArray());
        resolve({ status: response.statusCode, type: response.headers['content-type'], body });
      })
      .on('error', reject);
  });

const filesOf = (path) =>
  readdirSync(path, { recursive: true })
    .filter((name) => statSync(join(path, name)).isFile())
    .sort();

inFullRun('npm start in a copy of the sources, which compiles all modules', () => {
  describe('npm start:', { timeout: 3 * PATIENCE.test }, () => {
    let project;
    let first;
    after(async () => {
      await first?.stop();
      rmSync(project, { recursive: true, force: true });
    });

    test('serves the page first, and what is not built yet once it is', async () => {
      project = copyOfSources();
      first = start(project);
      const url = await first.url();
      const page = await fetch(`${url}/`);
      assert.equal(page.status, 200);
      assert.match(await page.text(), /<svg class="first-map"/);
      const [training, file] = await Promise.all([
        get(`${url}/assets/qkv-train-simd.wasm`),
        get(`${url}/qkv.html`),
      ]);
      assert.deepEqual([training.status, file.status], [200, 200]);
      assert.equal(training.type, 'application/wasm');
      assert.ok(WebAssembly.validate(training.body));
    });

    test('leaves dist/ as npm run build does', async () => {
      await until(
        () => /all of dist\/: built/.test(first.said),
        () => first.said,
      );
      const [own, built] = [project, root].map((of) => join(of, 'dist'));
      assert.deepEqual(filesOf(own), filesOf(built));
      for (const name of filesOf(built)) {
        assert.ok(readFileSync(join(own, name)).equals(readFileSync(join(built, name))), name);
      }
      await first.stop();
    });

    test('builds nothing the second time', async () => {
      const second = start(project);
      await second.url();
      assert.doesNotMatch(second.said, /build/);
      await second.stop();
    });
  });
});
