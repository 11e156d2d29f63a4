// Every recipe by its name: { about, batch, row(random), options, variants: { name: { config, steps, expect } } }.
// `expect` is what the accuracy on rows that were not trained on is held to at the end.
import { histogram } from './histogram.js';
import { induction } from './induction.js';
import { reversal } from './reversal.js';

export const recipes = { induction, reversal, histogram };
