// @build any
// Anything at all through every function of trainers and what they train: a typed error or a right answer, and nothing else has changed.
import { init } from 'qkv/train';
import { testBoundary } from './support/boundary.js';
import { trainTargets as targets } from './support/model-targets.js';
import { TrainWorld as Kind } from './support/model-world.js';

const load = () => init({ variant: 'simd', shared: false });
await testBoundary('fuzz, train', { targets, load, Kind, usual: 300 });
