// Which target, and what is wrong with its arguments, for fast-check.
import fc from 'fast-check';
import { deeds } from './spoil.js';
import { anything } from './values.js';

const how = fc.oneof(
  { weight: 4, arbitrary: fc.record({ replace: anything }) },
  { weight: 3, arbitrary: fc.record({ disguise: fc.nat(7) }) },
  { weight: 3, arbitrary: fc.record({ trap: fc.constantFrom(...deeds), then: anything }) },
);

/** One of these targets, by its number, and one to three faults. */
export const casesOf = (targets) =>
  fc.record({
    target: fc.nat(targets.length - 1),
    faults: fc.array(fc.record({ place: fc.nat(200), how }), { minLength: 1, maxLength: 3 }),
  });
