// How the rows of a text become its vector, as the files of a model say it.

import { refuse, refuseUnsupported } from '../errors.js';
import { Fields } from '../fields.js';
import type { ModelFile } from '../file.js';

/** The words of embed(), and what files say that is none of them: no vector of a text, or the score of a re-ranker. */
export type Pooling = 'mean' | 'cls' | 'last' | 'none' | 'rank';

/** By the numbers of llama.cpp. */
const ggufPooling: readonly Pooling[] = ['none', 'mean', 'cls', 'last', 'rank'];

/** Of 1_Pooling/config.json of sentence-transformers, whose newer files have one word. */
const words: Readonly<Record<string, Pooling>> = { mean: 'mean', cls: 'cls', lasttoken: 'last' };
const modes: Readonly<Record<string, string>> = {
  ...{ pooling_mode_mean_tokens: 'mean', pooling_mode_cls_token: 'cls' },
  ...{ pooling_mode_lasttoken: 'lasttoken', pooling_mode_max_tokens: 'max' },
  ...{ pooling_mode_mean_sqrt_len_tokens: 'mean_sqrt_len_tokens' },
  pooling_mode_weightedmean_tokens: 'weightedmean',
};

function hubPooling(given: unknown, dModel: number): Pooling {
  const fields = Fields.of('pooling', given);
  for (const width of ['word_embedding_dimension', 'embedding_dimension'])
    fields.only(width, dModel);
  for (const name of fields.names()) {
    // What is said of the text before the pooling comes with prompts, which nobody gives here.
    const isKnown =
      Object.keys(modes).includes(name) ||
      /^(pooling_mode|include_prompt|(word_)?embedding_dimension)$/.test(name);
    if (!isKnown) fields.only(name, false);
  }
  if (fields.has('pooling_mode')) return fields.choice('pooling_mode', words);
  const [mode, ...more] = Object.keys(modes).filter((name) => fields.flag(name, false));
  if (mode === undefined) return refuse('pooling has no pooling_mode_... that is true', 'one');
  if (more.length > 0)
    refuseUnsupported(`pooling has ${mode} and ${String(more[0])}`, 'one of the two');
  if (words[modes[mode] ?? ''] === undefined) fields.only(mode, false);
  return words[modes[mode] ?? ''] ?? 'mean';
}

/** What the files say of it; the one that was given goes first. */
export function poolingOf(
  { format, metadata }: ModelFile,
  given: unknown,
  dModel: number,
): Pooling | undefined {
  if (given !== undefined) return hubPooling(given, dModel);
  if (metadata.get('format') === 'qkv')
    return ggufPooling.find((word) => word === metadata.get('pooling'));
  if (format !== 'gguf') return undefined;
  const fields = new Fields('metadata', metadata);
  const field = `${fields.text('general.architecture')}.pooling_type`;
  if (!fields.has(field)) return undefined;
  fields.only(field, ...ggufPooling.keys());
  return ggufPooling[fields.count(field, undefined, 0)];
}
