// @build any
// Anything at all through every function of an engine and of what it makes: a typed error or a right answer, and never more than
// that. Models are in boundary-models.test.js, trainers in boundary-train.test.js.
import { test } from 'node:test';
import { init } from 'qkv';
import { problem } from '../../support/js/arrays.js';
import { expectClose } from '../../support/js/check.js';
import { wasmFile } from '../../support/js/files.js';
import * as oracle from '../../support/js/oracle.js';
import { testBoundary } from './support/boundary.js';
import { targets } from './support/targets.js';

const load = async () => init({ wasm: await WebAssembly.compile(wasmFile('simd')) });
await testBoundary('fuzz', { targets, load, usual: 750 });

test('fuzz: what is compared with is right', async () => {
  const { q, k, v } = problem({ tq: 40, tk: 50 });
  const { data, bound } = oracle.attention(q, k, v).output;
  expectClose((await load()).attention(q, k, v).output.data, data, bound);
});
