// @build any
// The cases of rules/ are what make_rules.js makes of the definitions.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { definitions, rulesUrl, texts } from './make_rules.js';

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

test('onnx rules: every file has each rule once, and each case of a rule', () => {
  const expectUnique = (names) => assert.equal(new Set(names).size, names.length, String(names));
  for (const { rules } of Object.values(definitions)) {
    expectUnique(rules.map(({ rule }) => rule));
    for (const { cases } of rules) expectUnique(cases.map(({ name }) => name));
  }
});
