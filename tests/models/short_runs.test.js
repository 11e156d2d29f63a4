// Whether the recipes that learn from texts of others still make the same weights: 50 steps with small batches end with the hash that
// the recipe has, on the instruction set whose arithmetic is that of the simd builds.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { fetchArchive, isPresent, NotFetched } from '../../models/data/fetch.js';
import { recipes } from '../../models/recipes/index.js';
import { buildTrainer } from '../../models/trainer/native.js';
import { shortRun } from '../../models/trainer/run.js';
import { full } from '../support/js/full.js';

/** An everyday run fetches no more than this for a recipe, in bytes. */
const LITTLE = 4e6;
const machine = process.arch === 'x64' ? false : 'sse4 is an instruction set of x86';

/** Why the data of a recipe are not here, or nothing. */
async function reasonNotHere({ archives }) {
  const missing = archives.filter((archive) => !isPresent(archive));
  const bytes = missing.reduce((sum, archive) => sum + archive.bytes, 0);
  if (bytes > LITTLE && !full) return `left to the full run: it fetches ${bytes} bytes`;
  try {
    for (const archive of missing) await fetchArchive(archive);
  } catch (error) {
    // A wrong hash is no reason to look away.
    if (!(error instanceof NotFetched)) throw error;
    return error.message;
  }
  return undefined;
}

before(() => buildTrainer());

for (const [name, recipe] of Object.entries(recipes).filter(([, { short }]) => short)) {
  test(
    `train: a short run of ${name} ends with the hash of its recipe`,
    { skip: machine },
    async (t) => {
      const reason = await reasonNotHere(recipe);
      if (reason) {
        console.log(`SKIPPED: the short run of ${name}. ${reason}`);
        t.skip(reason);
        return;
      }
      for (const [variantName, variant] of Object.entries(recipe.variants)) {
        assert.equal(
          await shortRun(recipe, variant),
          recipe.short.sha256[variantName],
          variantName,
        );
      }
    },
  );
}
