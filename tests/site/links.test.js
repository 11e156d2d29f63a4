// The page and its documentation as they are put on a server: every link leads somewhere, and every guide is there.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { assembleSite } from '../../tools/build.js';
import { bar, groups, hasCore, pages } from '../../tools/docs/contents.js';
import { root, text } from '../support/js/files.js';
import { linksOf, problemsOfLinks } from './support/links.js';

const folder = join(root, `build/site-${process.pid}`);
let files;
let htmls;
before(() => {
  assembleSite(folder);
  files = readdirSync(folder, { recursive: true }).filter((name) =>
    statSync(join(folder, name)).isFile(),
  );
  const isPage = (name) => /^(index\.html|docs\/(?!core\/search\/).*\.html)$/.test(name);
  htmls = Object.fromEntries(
    files.filter(isPage).map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
  );
});
after(() => rmSync(folder, { recursive: true, force: true }));

test('site: every link of every page leads to a file and a place that is there', (t) => {
  // The page makes its places by script; tests/page/links.test.js has its links.
  const own = Object.fromEntries(Object.entries(htmls).filter(([name]) => name !== 'index.html'));
  const { problems, count } = problemsOfLinks(own, files);
  t.diagnostic(`${count} links of ${Object.keys(own).length} pages`);
  assert.ok(count > 5000, `${count} links`);
  assert.deepEqual(problems, []);
});

test('site: a link that leads nowhere would be found', () => {
  const page = '<a href="b.html#there">b</a><a href="./">a</a><img src="c.svg">';
  const other = '<h2 id="there">';
  const asked = (html) => problemsOfLinks({ 'index.html': html, 'b.html': other }, all).problems;
  const all = ['index.html', 'b.html', 'c.svg'];
  assert.deepEqual(asked(page), []);
  const faults = {
    'leads nowhere': ['b.html', 'd.html'],
    'leads to no such place': ['#there', '#here'],
    'is of somewhere else': ['c.svg', 'https://elsewhere.invalid/c.svg'],
  };
  for (const [complaint, [from, to]] of Object.entries(faults)) {
    const [problem, ...more] = asked(page.replace(from, to));
    assert.ok(problem?.includes(complaint), complaint);
    assert.deepEqual(more, []);
  }
  assert.match(asked('<a href="nowhere:x/">x</a>')[0], /somewhere else/);
});

test('site: every guide, every result and every document of the project is a page', () => {
  const inFolder = (name) => readdirSync(join(root, name)).map((file) => `${name}/${file}`);
  const wanted = [...inFolder('.'), ...inFolder('wasm/docs'), ...inFolder('bench/results')]
    .map((file) => file.replace('./', ''))
    .filter((file) => file.endsWith('.md'));
  const missing = wanted.filter((file) => !pages.some((page) => page.file === file));
  assert.deepEqual(missing, [], 'tools/docs/contents.js has them all');
  for (const { url, file } of pages) {
    const title = /^# (.*)$/m.exec(text(file))?.[1];
    const [heading] = /<h1\b.*?<\/h1>/s.exec(htmls[`docs/${url}`]) ?? [];
    assert.ok(heading?.includes(title.slice(0, 5)), `${url}: ${heading}`);
    const isChinese = /<main [^>]*lang="zh-CN"/.test(htmls[`docs/${url}`]);
    assert.equal(isChinese, file.endsWith('.zh-CN.md'), url);
  }
});

test('site: the bar of every page leads to every part, and says which one it is of', () => {
  const named = Object.entries(htmls).filter(([name]) => name.startsWith('docs/'));
  for (const [name, html] of named) {
    const [nav] = /<nav class="bar".*?<\/nav>/.exec(html) ?? [''];
    const targets = linksOf(nav).map(({ target }) => new URL(target, `https://x/${name}`).pathname);
    const wanted = bar.map(({ url }) => new URL(url, 'https://x/docs/').pathname);
    assert.deepEqual(targets, wanted, name);
    const here = nav.match(/aria-current="true">([^<]*)</)?.[1];
    assert.equal(here, bar.find(({ of }) => of.test(name.slice('docs/'.length)))?.title, name);
  }
});

test('site: the first page leads to the page, the package, the library, and all guides', () => {
  const targets = linksOf(htmls['docs/index.html']).map(({ target }) => target);
  const core = hasCore ? ['core/index.html', 'core/using.html'] : [];
  const guides = groups[0].pages.map(({ url }) => url);
  for (const url of ['../', 'package/modules/qkv.html', ...core, ...guides])
    assert.ok(targets.includes(url), url);
});

test('site: the plots of the benchmarks are there, with the machine and the date', () => {
  const html = htmls['docs/benchmarks/peers.html'];
  const plots = linksOf(html).filter(({ target }) => target.endsWith('.svg'));
  assert.ok(plots.filter(({ kind }) => kind === 'img').length >= 2);
  assert.match(html, /machine: .*cores.*\d{4}-\d\d-\d\dT/s);
});

test('site: the page leads to its documentation, and its service worker keeps none of it', () => {
  assert.ok(linksOf(htmls['index.html']).some(({ target }) => target === 'docs/'));
  assert.match(htmls['docs/index.html'], /TypeDoc/);
  const worker = readFileSync(join(folder, 'service-worker.js'), 'utf8');
  assert.match(worker, /favicon\.svg/);
  assert.doesNotMatch(worker, /docs\//);
});
