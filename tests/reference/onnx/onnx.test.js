// ONNX on the public API: the rules of its operators, one test each, which are part of the project
// (make_rules.js); and ONNX's own node tests (opsets 23 and 24) when they are at hand: a folder of JSON files of
// the same format, named by QKV_CONFORMANCE, or else in a folder `shared` beside the checkout.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { init } from 'qkv';
import { extraFolder, initAsTold } from '../../support/js/files.js';
import { run, toNumber } from './support/run.js';

const qkv = await initAsTold(init);
const read = (url) => JSON.parse(readFileSync(url, 'utf8'));

/** How far each element may be off: as the file says, one number for so many neighbours, or as ONNX allows. */
function boundsOf({ dtype, data, bound }) {
  if (!bound) {
    const relative = dtype === 'f16' ? 1e-3 : 2e-6;
    return data.map((value) => relative * Math.max(1, Math.abs(toNumber(value))));
  }
  const block = data.length / bound.length;
  return data.map((_, i) => bound[Math.floor(i / block)]);
}

function expectClose(name, actual, expected) {
  const bounds = boundsOf(expected);
  assert.deepEqual([...actual.shape], expected.shape, `${name}: shape`);
  assert.equal(actual.data.length, expected.data.length, name);
  expected.data.map(toNumber).forEach((value, i) => {
    const got = actual.data[i];
    if (Object.is(got, value) || got === value) return;
    const near = Math.abs(got - value) <= bounds[i];
    assert.ok(near, `${name}[${i}] is ${got}, expected ${value} within ${bounds[i]}`);
  });
}

function check(example) {
  if (example.refused) {
    assert.throws(
      () => run(qkv, example),
      { name: 'QkvError', code: example.refused },
      `${example.name}: is refused`,
    );
    return;
  }
  const got = run(qkv, example);
  // Mean and InvStdDev of a layer norm are there for its gradient, which this package has not.
  const names = Object.keys(example.outputs).filter((n) => n !== 'Mean' && n !== 'InvStdDev');
  assert.ok(names.length > 0, example.name);
  for (const name of names)
    expectClose(`${example.name}: ${name}`, got[name], example.outputs[name]);
}

const rules = new URL('rules/', import.meta.url);
for (const file of readdirSync(rules).sort()) {
  for (const { rule, cases } of read(new URL(file, rules)).rules) {
    test(`onnx ${file.slice(0, -'.json'.length)}: ${rule}`, () => {
      assert.ok(cases.length > 0);
      cases.forEach(check);
    });
  }
}

const folder = extraFolder('QKV_CONFORMANCE', 'conformance/onnx');
const examples = existsSync(folder) ? readdirSync(folder).filter((f) => f.endsWith('.json')) : [];
if (examples.length === 0) {
  const message = `SKIPPED: no ONNX node tests at ${folder}; name their folder in QKV_CONFORMANCE`;
  console.error(message);
  test('onnx node tests', { skip: message }, () => {});
}
for (const file of examples.sort()) {
  const example = read(new URL(file, pathToFileURL(`${folder}/`)));
  test(`onnx node test ${example.name}`, () => check(example));
}
