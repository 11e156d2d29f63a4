// Models of GGUF: from the metadata, as llama.cpp's converter writes it, to a config. A size or number that should be there is
// not guessed.

import type { ModelRotary } from '../../api/model-config.js';
import { Fields } from '../fields.js';
import type { ModelFile } from '../file.js';
import type { Family, Read } from './family.js';
import { all, type Fixed } from './fixed.js';
import { ggufModules } from './gguf-names.js';
import * as known from './index.js';
import { type Unturned, withBothSides, withDirection, withTurns } from './layered.js';
import { ggufRotary } from './rope.js';
import { longFactors } from './rope-factors.js';
import { sizesOf, words } from './sizes.js';
import { checkComputed } from './unread.js';
import { ggufWindow } from './windows.js';

type OfGguf = Family & Required<Pick<Family, 'gguf'>>;

const isOfGguf = (family: Family): family is OfGguf => family.gguf !== undefined;
/** The families by what GGUF calls them; Mistral is 'llama' there. */
const families: Readonly<Record<string, OfGguf>> = Object.fromEntries(
  Object.values<Family>(known)
    .filter(isOfGguf)
    .map((family) => [family.gguf.architecture, family]),
);

const sizeKeys =
  'block_count embedding_length attention.head_count feed_forward_length context_length attention.head_count_kv attention.key_length';

/** Keys below the architecture that are read for every family, or on which nothing hangs. */
const usualKeys = words(
  `${sizeKeys} vocab_size pooling_type attention.value_length attention.layer_norm_epsilon ` +
    'attention.layer_norm_rms_epsilon attention.causal attention.sliding_window attention.sliding_window_pattern ' +
    'rope.dimension_count rope.freq_base rope.scale_linear rope.scaling.type rope.scaling.factor rope.scaling.attn_factor ' +
    'rope.scaling.original_context_length rope.scaling.yarn_beta_fast rope.scaling.yarn_beta_slow ' +
    'rope.scaling.yarn_ext_factor rope.scaling.finetuned tensor_data_layout classifier.output_labels',
);
/** Others of which one value is known. */
const fixed: ReadonlyMap<string, Fixed[string]> = new Map(Object.entries({
  ...all('expert_count expert_used_count expert_shared_count expert_group_count expert_group_used_count', 0),
  ...all('leading_dense_block_count nextn_predict_layers attention.max_alibi_bias attention.clamp_kqv', 0),
  ...all('attention.scale logit_scale residual_scale embedding_scale rope.scaling.yarn_log_multiplier', 0),
  ...all('attn_logit_softcapping final_logit_softcapping', 0),
  ...all('use_parallel_residual', false),
})); // oxfmt-ignore

/** Of the metadata below the architecture all is known, or has a value that changes nothing. */
function checkKnown(fields: Fields, own: readonly string[]): void {
  for (const name of fields.names()) {
    if (usualKeys.includes(name) || own.includes(name)) continue;
    fields.only(name, ...(fixed.get(name) ?? []));
  }
}

const ropeArrays = /^rope_(freqs|factors_(short|long))\.weight$/;

const localBase = 'rope.freq_base_swa';

/** The rotation of layers with a window, where the family has one. */
function localRotary(
  fields: Fields,
  { local }: OfGguf['gguf'],
  full: ModelRotary | undefined,
): ModelRotary | undefined {
  if (local === undefined) return undefined;
  const rotaryDim = full?.rotaryDim;
  return { base: fields.number(localBase, local), ...(rotaryDim !== undefined && { rotaryDim }) };
}

/** What a GGUF file says of its model. */
export function readGguf(file: ModelFile): Read {
  const { metadata, tensors } = file;
  const general = new Fields('metadata', metadata);
  general.only('general.type', 'model');
  checkComputed(general, 'general.architecture');
  const family = general.choice('general.architecture', families);
  const { types, traits, scaled, gguf } = family;
  const fields = general.under(`${gguf.architecture}.`);
  const ofLocal = gguf.local === undefined ? '' : localBase;
  checkKnown(fields, words(`${gguf.keys ?? ''} ${ofLocal}`));
  const sizes = sizesOf(fields, sizeKeys);
  const { dK = sizes.dModel / sizes.numHeads } = sizes;
  fields.only('attention.value_length', dK);
  const rowsOf = (tensor: string): number => tensors.get(tensor)?.shape[0] ?? 0;
  const vocabulary = rowsOf('token_embd.weight');
  fields.only('vocab_size', vocabulary);
  const isRms = traits.normType === 'rms';
  const more = gguf.more?.(fields, sizes, file);
  const hasFactors = gguf.hasFactors === true && tensors.has(longFactors);
  const config: Unturned & { family: string } = {
    ...{ ...traits, family: types[0] ?? '', ...sizes, ...scaled?.(sizes), vocabulary },
    activation: traits.activation ?? (isRms ? 'swiglu' : 'gelu'),
    epsilon: fields.number(`attention.layer_norm_${isRms ? 'rms_' : ''}epsilon`),
    ...(traits.positions === 'rotary' && {
      rotary: {
        ...traits.rotary,
        ...ggufRotary(fields, dK, sizes, { base: gguf.base, hasFactors }),
        ...(gguf.isInterleaved && { interleaved: true }),
      },
    }),
    ...(traits.head === false
      ? { tokenTypes: rowsOf('token_types.weight') }
      : { tiedEmbeddings: !tensors.has('output.weight') }),
    ...ggufWindow(fields, sizes, gguf.slides, gguf.needsWindow),
    ...more?.config,
  };
  // An encoder without a head says what nothing follows.
  if (traits.head === false) fields.only('attention.causal', false);
  const isCausal = fields.flag('attention.causal', config.causal ?? true);
  const local = localRotary(fields, gguf, config.rotary);
  const turned = withTurns(withBothSides(config), family.layers?.(config, fields), local);
  return {
    config: withDirection(turned, isCausal, fields.pathOf('attention.causal')),
    names: {
      ...{ layers: 'blk.', ignored: hasFactors ? ropeArrays : /^rope_freqs\.weight$/ },
      modules: { ...ggufModules, ...gguf.modules },
      ...more?.names,
    },
  };
}
