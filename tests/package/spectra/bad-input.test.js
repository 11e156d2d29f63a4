// @build any
// Bad input to qkv/spectra: every argument and option field, wrong in every way its kind can be, is refused with a code and a sentence.
// What there is to refuse is read off the declarations.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { init as initEngine } from 'qkv';
import { init } from 'qkv/spectra';
import { randomArray } from '../../support/js/arrays.js';
import { expectThrows } from '../../support/js/check.js';
import { declared } from '../node/bad-input/declarations.js';
import { testTable } from '../node/bad-input/harness.js';
import { array, boolean, methodsOf, options, to, whole } from '../node/bad-input/kinds.js';

const [spectra, other] = await Promise.all([init(), initEngine()]);
after(() => [spectra, other].forEach((each) => each.dispose()));
const dead = (shape) => {
  const tensor = other.tensor(shape);
  tensor.dispose();
  return tensor;
};
const tensor = (shape) => other.tensor(shape);
const world = { engine: spectra, dead, tensor, foreign: tensor };

const method = methodsOf('Spectra');
const ofLeft = array([2, 5, 3], to('[...,m,k]', [], [3]));
const rightOf = (last, wrong) =>
  array(
    [2, 3, last],
    wrong.map((shape) => [shape, `[2,3,${last === 4 ? 'n' : last}]`]),
  );
const misfits = [[], [3], [3, 4], [1, 3, 4], [2, 4, 4], [2, 1, 3, 4]];

const product = (name, last, more, names) =>
  method(name, {
    args: { left: randomArray([2, 5, 3], 1), right: randomArray([2, 3, last], 2), options: {} },
    left: ofLeft,
    right: rightOf(last, misfits),
    options: options(...names),
    'options.transposed': boolean,
    ...more,
  });

const tables = [
  product('singularValues', 4, { 'options.vectors': boolean }, ['transposed', 'transpose']),
  product('effectiveRank', 4, {}, ['transposed', 'transpose']),
  product('eigenvalues', 5, {}, ['transposed', 'transpose']),
  method('pca', {
    args: { x: randomArray([6, 4], 1), options: {} },
    x: array([6, 4], to('[n,d]', [], [6], [1, 6, 4])),
    options: options('count', 'counts'),
    'options.count': whole(0, 4, '0 to 4'),
    'options.projections': boolean,
  }),
];
for (const table of tables) testTable(table, world);

test('bad input: every argument and every option field that is declared stands in a table, and nothing else', () => {
  const own = new Map([...declared('spectra', [])].filter(([, paths]) => paths.size > 0));
  const ofSpectra = new Map([...own].filter(([name]) => name.startsWith('Spectra.')));
  const inTables = new Map(tables.map(({ method: of, kinds }) => [of, Object.keys(kinds).sort()]));
  assert.deepEqual([...inTables.keys()].sort(), [...ofSpectra.keys()].sort());
  for (const [of, paths] of ofSpectra) assert.deepEqual(inTables.get(of), [...paths].sort());
});

test('bad input: every method of a disposed engine is refused by name', async () => {
  const engine = await init({ shared: false });
  engine.dispose();
  for (const table of tables) {
    expectThrows(() => table.call({ engine }, table.base()), table.says, 'disposed', 'disposed');
  }
});
