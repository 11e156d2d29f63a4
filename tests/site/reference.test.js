// The reference of the package: every function and every method has a page of its own, with all that a caller needs.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { operators, otherMethods } from '../../wasm/bindings/schema.js';
import { root, text } from '../support/js/files.js';

const docs = join(root, 'build/docs');
const page = (address) => readFileSync(join(docs, address), 'utf8');
const pagesIn = (folder) =>
  readdirSync(join(docs, 'package', folder)).map((name) => `package/${folder}/${name}`);
const pages = [...pagesIn('functions'), ...pagesIn('methods')];

/** The methods in the sources: [type, name], of every interface that is public. */
function methodsInSources() {
  const found = [];
  for (const file of readdirSync(join(root, 'wasm/src/api'))) {
    for (const [, type, body] of text(`wasm/src/api/${file}`).matchAll(
      /^export interface (\w+)[^{]*\{\n(.*?)^\}/gms,
    )) {
      for (const [, name] of body.matchAll(/^ {2}(\w+)\??(?:<.*)?\(/gm)) found.push([type, name]);
    }
  }
  return found;
}

test('reference: every function of an engine has a page at an address that is its name', () => {
  const methods = Object.values(operators).flatMap(({ method }) => method ?? []);
  const names = [...methods, ...Object.keys(otherMethods)];
  assert.ok(names.length > 20);
  for (const name of names) {
    if (name === 'info') continue; // not a function
    const [place] = ['qkv', 'qkv_train', 'qkv_spectra']
      .map((module) => `package/functions/${module}.${name}.html`)
      .filter((address) => pages.includes(address));
    assert.ok(place, `${name} has no page`);
  }
});

test('reference: every method of every public type has a page', (t) => {
  const methods = methodsInSources();
  t.diagnostic(`${methods.length} methods`);
  assert.ok(methods.length > 150, `${methods.length} methods`);
  const isPublic = (type) =>
    ['qkv', 'qkv_models', 'qkv_train', 'qkv_worker', 'qkv_spectra', 'qkv_constraints'].some(
      (module) => existsSync(join(docs, `package/interfaces/${module}.${type}.html`)),
    );
  const engines = ['Qkv', 'TrainQkv', 'Spectra', 'AsyncQkv'];
  const hasPage = ([type, name]) =>
    engines.includes(type)
      ? pages.some((place) => place.endsWith(`.${name}.html`) && place.includes('/functions/'))
      : pages.some((place) => place.endsWith(`.${type}.${name}.html`));
  const missing = methods.filter((method) => isPublic(method[0]) && !hasPage(method));
  assert.deepEqual(missing, []);
});

test('reference: a page of a function has its signature and an example', () => {
  const without = pages.filter((address) => {
    const html = page(address);
    return !/class="tsd-signature/.test(html) || !/<h2 id="example">/.test(html);
  });
  assert.deepEqual(without, []);
});

test('reference: the page of attention has formula, errors, every option and an example that runs', () => {
  const html = page('package/functions/qkv.attention.html');
  const keys = ['causal', 'mask', 'cache', 'returnWeights'].map(
    (option) => `<dt><code>${option}?</code>`,
  );
  const wanted = ['softmax over allowed j', '>Throws', ...keys, 'From the guide'];
  assert.deepEqual(
    wanted.filter((part) => !html.includes(part)),
    [],
  );
});

test('reference: the tree of pages and the page of qkv list functions by the rooms of the guide to the package', () => {
  const html = page('package/modules/qkv.html');
  const rooms = ['attention', 'layers', 'positions', 'measures', 'arrays', 'engine'];
  const places = rooms.map((room) => html.indexOf(`<h2 id="${room}"`));
  assert.ok(
    places.every((place, i) => place > (places[i - 1] ?? 0)),
    `${places}`,
  );
  const [first, next] = places;
  const list = html.slice(first, next);
  assert.ok(list.includes('qkv.attention.html') && list.includes('qkv.kvCache.html'));
});

test('reference: what a type inherits leads to the page of the type that declares it', () => {
  const html = page('package/interfaces/qkv_train.TrainQkv.html');
  assert.ok(html.includes('href="../functions/qkv.attention.html"'));
  assert.ok(!pages.includes('package/functions/qkv_train.attention.html'));
});
