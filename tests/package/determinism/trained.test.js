// @build any
// Two hundred steps of training give one hash: in Node, Chromium and Firefox, with any number of threads, and natively
// (tests/core/train/language_model_test.cpp has the same number).
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { text } from '../../support/js/files.js';
import { full } from '../../support/js/full.js';
import { hosts } from './hosts.js';

const [, native] = /hash\.value\(\) == 0x([0-9A-F]{16})U/.exec(
  text('tests/core/train/language_model_test.cpp'),
);

describe(
  'training: two hundred steps give the hash of the native tests',
  { concurrency: 2 },
  () => {
    for (const host of hosts) {
      test(`training: ${host.name}`, { skip: host.missing }, async () => {
        // Of browsers an everyday run asks for two threads; of Node for all counts.
        const isAsked = ({ variant, threads = 2 }) =>
          variant.startsWith('simd') && (full || host === hosts[0] || threads === 2);
        const asked = host.builds.filter(isAsked);
        const answers = await host.ask({ builds: asked, trained: true });
        assert.equal(answers.length, asked.length);
        for (const { variant, threads, hash } of answers) {
          assert.equal(hash, native.toLowerCase(), `${variant} with ${threads} threads`);
        }
      });
    }
  },
);
