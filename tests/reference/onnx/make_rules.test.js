// @build any
// The cases of rules/ are what make_rules.js makes of the definitions, and every one of them tells its rule from
// readings that break it: the reference with one step replaced is then out of bounds.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { definitions, exampleOf, references, rulesUrl, texts } from './make_rules.js';

/** By how many bounds a wrong result is off at least, so that none can be within the bound of both. */
const apart = 4;

test('onnx rules: make_rules.js makes the bytes of every file', () => {
  const made = texts();
  const names = Object.keys(made).map((name) => `${name}.json`);
  assert.deepEqual(readdirSync(rulesUrl).sort(), names.sort());
  for (const [name, text] of Object.entries(made)) {
    const kept = readFileSync(new URL(`${name}.json`, rulesUrl), 'utf8');
    assert.ok(kept === text, `${name}.json is old: node tests/reference/onnx/make_rules.js`);
  }
});

test('onnx rules: all files together are small', () => {
  const sizes = Object.values(texts()).map((text) => text.length);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  assert.ok(total < 300_000, `${total} bytes`);
});

/** By how many bounds the wrong output is off, at most; infinity where it is no number or another shape. */
function distance(right, wrong) {
  if (String(right.shape) !== String(wrong.shape) || right.data.length !== wrong.data.length)
    return Infinity;
  const off = right.data.map((value, i) => {
    if (Object.is(value, wrong.data[i]) || value === wrong.data[i]) return 0;
    const difference = Math.abs(value - wrong.data[i]);
    return Number.isNaN(difference) ? Infinity : difference / right.bound[i];
  });
  return Math.max(...off);
}

function isTold(right, wrong) {
  if (right.refused ?? wrong.refused) return right.refused !== wrong.refused;
  return Object.keys(right).some((name) => distance(right[name], wrong[name]) >= apart);
}

for (const [name, { op, opset, rules }] of Object.entries(definitions)) {
  test(`onnx rules: ${name} has each rule and each case of a rule once`, () => {
    const names = rules.map(({ rule }) => rule);
    assert.equal(new Set(names).size, names.length);
    for (const { rule, cases } of rules) {
      const caseNames = cases.map((c) => c.name);
      assert.equal(new Set(caseNames).size, caseNames.length, rule);
    }
  });

  for (const { rule, cases, wrong } of rules) {
    test(`onnx rules: ${name}: ${rule}: cases tell it from its opposite`, () => {
      const examples = cases.map((c) => exampleOf({ op, opset }, c));
      const right = examples.map((example) => references[op](example));
      const toldBy = new Set();
      assert.ok(Object.keys(wrong).length > 0, 'nothing breaks the rule');
      for (const [reading, changed] of Object.entries(wrong)) {
        const told = examples.filter((example, i) =>
          isTold(right[i], references[op](example, changed)),
        );
        assert.ok(told.length > 0, `no case tells it from "${reading}"`);
        told.forEach((example) => toldBy.add(example.name));
      }
      for (const example of examples)
        assert.ok(toldBy.has(example.name), `"${example.name}" tells it from nothing`);
    });
  }
}
