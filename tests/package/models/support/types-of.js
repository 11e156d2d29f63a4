// Which types of arrays a test tries with the files of a family.
import { full, leaveToFullRun } from '../../../support/js/full.js';

if (!full) leaveToFullRun('files of all types of all families but one');

/** Readers of arrays know nothing of families, so an everyday run tries every type with one family, and the first with all. */
export const typesOf = (family, types) => (full || family === 'llama' ? types : types.slice(0, 1));
