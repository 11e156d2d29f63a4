// @build any
// Anything at all through every function of an engine and of what it makes: a typed error or a right answer, and never more than
// that. Models are in boundary-models.test.js, trainers in boundary-train.test.js.
import { after, test } from 'node:test';
import { init } from 'qkv';
import { problem } from '../../support/js/arrays.js';
import { expectClose } from '../../support/js/check.js';
import { wasmFile } from '../../support/js/files.js';
import * as oracle from '../../support/js/oracle.js';
import { Boundary } from './support/boundary.js';
import { casesOf, textsOf } from './support/faults.js';
import { floors } from './support/floors.js';
import { countAnswers, expectAnswers, watchdog } from './support/settings.js';
import { targets } from './support/targets.js';

const usual = 1500;
const boundary = new Boundary(async () =>
  init({ wasm: await WebAssembly.compile(wasmFile('simd')) }),
);
await boundary.begin();
const watch = watchdog();
after(watch.stop);

test('fuzz: right arguments give right answers', async () => {
  const { q, k, v } = problem({ tq: 40, tk: 50 });
  const { data, bound } = oracle.attention(q, k, v).output;
  expectClose(boundary.engine.attention(q, k, v).output.data, data, bound);
  for (const target of targets) await boundary.run(target, []);
});

test('fuzz: any arguments: a typed error or a right answer, and nothing else has changed', async (t) => {
  const nameOf = ({ target }) => targets[target].method;
  const of = { cases: casesOf(targets), textOf: textsOf(targets), nameOf, watch, usual };
  const counts = await countAnswers(t, of, ({ target, faults }) =>
    boundary.run(targets[target], faults),
  );
  expectAnswers(counts, floors.boundary);
});
