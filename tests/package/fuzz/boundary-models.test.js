// @build any
// Anything at all through every function of models and sessions: a typed error or a right answer, and nothing else has changed.
import { init } from 'qkv';
import { testBoundary } from './support/boundary.js';
import { modelTargets as targets } from './support/model-targets.js';
import { ModelWorld as Kind } from './support/model-world.js';

const load = () => init({ variant: 'simd', shared: false });
await testBoundary('fuzz, models', { targets, load, Kind, usual: 300 });
