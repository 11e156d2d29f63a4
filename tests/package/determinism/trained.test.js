// @build any
// Two hundred steps of training give one hash: in Node, Chromium and Firefox, with any number of threads, and natively
// (tests/core/train/language_model_test.cpp has the same number).
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { text } from '../../support/js/files.js';
import { full, leaveToFullRun } from '../../support/js/full.js';
import { hosts } from './hosts.js';

const [, native] = /hash\.value\(\) == 0x([0-9A-F]{16})U/.exec(
  text('tests/core/train/language_model_test.cpp'),
);

describe(
  'training: two hundred steps give the hash of the native tests',
  { concurrency: 2 },
  () => {
    // Browsers compute what Node computes, and determinism.test.js compares their operators in every run.
    if (!full) leaveToFullRun('two hundred steps of training in browsers');
    for (const host of full ? hosts : hosts.slice(0, 1)) {
      test(`training: ${host.name}`, { skip: host.missing }, async () => {
        const asked = host.builds.filter(({ variant }) => variant.startsWith('simd'));
        const answers = await host.ask({ builds: asked, trained: true });
        assert.equal(answers.length, asked.length);
        for (const { variant, threads, hash } of answers) {
          assert.equal(hash, native.toLowerCase(), `${variant} with ${threads} threads`);
        }
      });
    }
  },
);
