// Every recipe by its name: { about, batch, row(random), options, variants: { name: { config, steps, expect } } }.
// `expect` is what the accuracy on rows that were not trained on is held to at the end; report(trainer) gives lines of what else is
// found in the model. A config with a `kind` is of a seq2seq model.
import { fixedVector } from './fixed_vector.js';
import { histogram } from './histogram.js';
import { induction } from './induction.js';
import { reversal } from './reversal.js';

export const recipes = { induction, reversal, histogram, 'fixed-vector': fixedVector };
