// Every recipe by its name: { about, batch, row(random), options, variants: { name: { config, steps, expect } } }.
// `expect` is what is asked at the end on rows that were not trained on, of the accuracy (atLeast, atMost) or of the loss
// (lossAtMost); report(trainer, data) gives lines of what else is found in the model. A config with a `kind` is of a seq2seq model.
// A recipe that learns from texts of others has data() in place of batch and row: { tokenizer, batches(seed, sizes), heldOut }, and
// `archives`, which data() fetches. begin(trainer, seed, first) comes before the steps of a run, where a part of the model learns alone.
// `short` has sizes of batches, and the hashes of all weights after 50 steps with these.
// measure(trainer, data) and baseline(data) find what goes onto its card with --publish, of `judged`, or of all that is held out.
import { austen } from './austen.js';
import { fixedVector } from './fixed_vector.js';
import { histogram } from './histogram.js';
import { induction } from './induction.js';
import { names } from './names.js';
import { novels } from './novels.js';
import { phones } from './phones.js';
import { recurrence } from './recurrence.js';
import { reversal } from './reversal.js';
import { tang } from './tang.js';

export const recipes = {
  ...{ induction, reversal, histogram, 'fixed-vector': fixedVector, recurrence },
  ...{ austen, tang, phones, novels, names },
};
