// @build any
// Anything at all through every function of trainers and what they train: a typed error or a right answer, and nothing else has changed.
import { after, test } from 'node:test';
import { init } from 'qkv/train';
import { Boundary } from './support/boundary.js';
import { casesOf, textsOf } from './support/faults.js';
import { floors } from './support/floors.js';
import { trainTargets as targets } from './support/model-targets.js';
import { TrainWorld } from './support/model-world.js';
import { countAnswers, expectAnswers, watchdog } from './support/settings.js';

const usual = 600;
const boundary = new Boundary(() => init({ variant: 'simd', shared: false }), TrainWorld);
await boundary.begin();
const watch = watchdog();
after(watch.stop);

test('fuzz, train: right arguments give right answers', async () => {
  for (const target of targets) await boundary.run(target, []);
});

test('fuzz, train: any arguments: a typed error or a right answer, and nothing else has changed', async (t) => {
  const nameOf = ({ target }) => targets[target].says;
  const of = { cases: casesOf(targets), textOf: textsOf(targets), nameOf, watch, usual };
  const counts = await countAnswers(t, of, ({ target, faults }) =>
    boundary.run(targets[target], faults),
  );
  expectAnswers(counts, floors.train);
});
