// @build any
// Bad input to what qkv/train has besides qkv: every argument and option field, wrong in every way its kind can be, is
// refused with a code and a sentence, and nothing changes. What there is to refuse is read off the declarations.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { init } from 'qkv/train';
import { expectThrows } from '../../support/js/check.js';
import { declared } from '../node/bad-input/declarations.js';
import { makeWorld, testTable } from '../node/bad-input/harness.js';
import { tables as operatorTables } from './bad-input/tables.js';
import { trainerTables } from './bad-input/trainers.js';

const tables = [...operatorTables, ...trainerTables];
const world = await makeWorld(init);
after(() => world.engine.dispose());
for (const table of tables) testTable(table, world);

/** The methods that an engine of qkv lacks, and their arguments. */
const all = declared('train');
const own = new Map(
  [...all].filter(([name]) => name.startsWith('TrainQkv.') && !all.has(name.replace('Train', ''))),
);

test('bad input: every argument and every option field that is declared stands in a table, and nothing else', () => {
  assert.equal(own.size, 14);
  const inTables = new Map(tables.map(({ method, kinds }) => [method, Object.keys(kinds).sort()]));
  assert.deepEqual([...inTables.keys()].sort(), [...own.keys()].sort());
  for (const [method, paths] of own) assert.deepEqual(inTables.get(method), [...paths].sort());
});

test('bad input: every method of a disposed engine is refused by name', async () => {
  const engine = await init({ shared: false });
  engine.dispose();
  for (const table of tables) {
    expectThrows(() => table.call({ engine }, table.base()), table.says, 'disposed', 'disposed');
  }
});
