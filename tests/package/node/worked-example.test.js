// @build any
// The sums in the prose of the worked example. What its code prints is compared in tests/release/consumers.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { text } from '../../support/js/files.js';

const prose = text('wasm/docs/worked-example.md').replaceAll(/^```.*?^```$/gms, '');
const functions = { exp: Math.exp, ln: Math.log, sqrt: Math.sqrt };

/** The value of a sum such as `0.2475 + ln 2.8771`, or undefined for what is none. */
function valueOf(sum) {
  if (!/^(?:[\d.\s()+*/-]|exp|ln|sqrt)*\d[\s)]*$/.test(sum)) return undefined;
  const script = sum.replaceAll(/ln ([\d.]+)/g, 'ln($1)');
  return new Function(...Object.keys(functions), `return ${script};`)(...Object.values(functions));
}

/** Neighbours in `a = b = c`; columns are apart by two spaces, sentences by a colon or comma. */
const equations = prose
  .split(/\n|[:;,?]\s|\.\s| {4,}/)
  .flatMap((part) => {
    const sides = part.split(' = ').map((side) => {
      const [, sum = ''] =
        /(?<![\w.])((?:[\d.\s()+*/-]|exp|ln|sqrt)*\d\)?)(?:\.\.\.)?$/.exec(side) ?? [];
      return valueOf(sum.trim());
    });
    return sides.slice(1).map((right, i) => ({ part, left: sides[i], right }));
  })
  .filter(({ left, right }) => left !== undefined && right !== undefined);

test('worked example: the sums in the prose are right', (t) => {
  t.diagnostic(`${equations.length} equations`);
  assert.ok(equations.length >= 13, `${equations.length} equations`);
  for (const { part, left, right } of equations) {
    // Four digits are shown, of numbers that were rounded to four digits themselves.
    assert.ok(Math.abs(left - right) <= 1e-4, `${part.trim()}: ${left}`);
  }
});
