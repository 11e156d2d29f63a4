// @build any
// The circuit of models/names, as the tools of the package find it in the committed weights: it is what the card and models/README.md say.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { circuitOf } from '../../../models/trainer/circuit.js';
import { read, text } from '../../support/js/files.js';

const { circuit, english, chinese } = JSON.parse(text('models/names/card.json')).models.names;

describe('the circuit of names', () => {
  let found;
  before(async () => {
    found = await circuitOf(read('models/names/names.safetensors'));
  });

  test('the card has what the tools find', () => {
    const near = (actual, expected, where) => {
      if (typeof expected === 'number') {
        assert.ok(Math.abs(actual - expected) <= 0.002, `${where}: ${actual}, card ${expected}`);
        return;
      }
      assert.deepEqual(Object.keys(actual), Object.keys(expected), where);
      for (const [key, value] of Object.entries(expected)) near(actual[key], value, `${where} ${key}`); // prettier-ignore
    };
    near(found, circuit, 'circuit');
  });

  test('the weights are those that the trainer measured', () => {
    for (const [language, { heads }] of Object.entries({ english, chinese })) {
      for (const [head, { attendsTo }] of Object.entries(heads)) {
        const { onGivesAgain } = found[language][head];
        assert.ok(Math.abs(onGivesAgain - attendsTo.givesAgain) <= 0.002, `${language} ${head}`);
      }
    }
  });

  test('in English one head marks the giver: by the place, and against the name', () => {
    const { 0.3: marks, ...others } = found.english;
    assert.ok(marks.restored > 0.9 && marks.onGivesAgain > 0.9);
    assert.ok(marks.toGives < -4 && Math.abs(marks.toGets) < 1 && marks.copying < -0.9);
    for (const [head, { restored }] of Object.entries(others)) assert.ok(restored < 0.1, head);
    // A name that has not been there before has as much weight in that place, and no head looks for the same token.
    assert.ok(Math.abs(marks.onAnother - marks.onGivesAgain) < 0.02);
    assert.ok(found.mostDuplicate < 0.1);
  });

  test('in Chinese three heads mark the giver', () => {
    for (const [head, { restored, toGives, toGets, copying }] of Object.entries(found.chinese)) {
      const marks = ['0.3', '1.0', '1.1'].includes(head);
      assert.equal(restored > 0.2 && toGives < -0.9 && toGets > 0 && copying < -0.4, marks, head);
    }
  });

  test('the heads that move names move both, and copy', () => {
    const movers = { english: ['0.0', '0.1', '1.0', '1.2'], chinese: ['0.0', '0.2', '1.2'] };
    for (const [language, heads] of Object.entries(movers)) {
      const all = Object.entries(found[language]);
      const moving = all.filter(([, { toGets, toGives }]) => Math.min(toGets, toGives) > 0.8);
      assert.deepEqual(moving.map(([head]) => head), heads); // prettier-ignore
      for (const [head, { toGets, toGives, copying }] of moving) {
        assert.ok(copying > 0.1 && Math.abs(toGets - toGives) < 0.35, `${language} ${head}`);
      }
    }
  });
});
