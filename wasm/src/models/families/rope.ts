// Rotary positions, as files say them.

import type { ModelRotary } from '../../api/model-config.js';
import { isArray, isRecord } from '../../arguments/values.js';
import { refuse, refuseUnsupported } from '../errors.js';
import { agreed, type Fields, oneOf } from '../fields.js';
import { type Sizes, words } from './sizes.js';

/** How positions beyond the trained length are stretched. */
function scalingOf(rope: Fields, fields: Fields, maxLength: number): ModelRotary['scaling'] {
  const [, kind = 'rope_type'] = agreed([rope, 'rope_type'], [rope, 'type']) ?? [];
  const type = rope.get(kind) ?? 'default';
  if (type === 'default') return undefined;
  const factor = rope.number('factor');
  if (type === 'linear') return { type, factor };
  const original = 'original_max_position_embeddings';
  const originalLength = (rope.has(original) ? rope : fields).count(original, maxLength);
  if (type === 'llama3') {
    const lowFrequencyFactor = rope.number('low_freq_factor');
    const highFrequencyFactor = rope.number('high_freq_factor');
    return { type, factor, lowFrequencyFactor, highFrequencyFactor, originalLength };
  }
  for (const field of ['mscale', 'mscale_all_dim']) rope.only(field);
  rope.only('truncate', true);
  return {
    ...{ type: 'yarn', factor, originalLength },
    ...{ betaFast: rope.number('beta_fast', 32), betaSlow: rope.number('beta_slow', 1) },
    ...(rope.has('attention_factor') && { attentionFactor: rope.number('attention_factor') }),
  };
}

const ropeKinds = ['default', 'linear', 'yarn', 'llama3'];
/** What is known of rope_parameters; a kind of scaling leaves those of the others alone, as transformers does. */
const ropeFields = words(
  'rope_type type rope_theta partial_rotary_factor factor original_max_position_embeddings low_freq_factor ' +
    'high_freq_factor beta_fast beta_slow attention_factor mscale mscale_all_dim truncate finetuned',
);

/** The object with what is said of the rotation, of which newer files have one for each kind of layer. */
function ropeOf(fields: Fields): Fields | undefined {
  const [newer, older] = ['rope_parameters', 'rope_scaling'];
  const isTwice = fields.has(newer) && fields.has(older);
  if (isTwice && fields.textOf(newer) !== fields.textOf(older))
    refuse(`${fields.pathOf(newer)} and ${fields.pathOf(older)} differ`, 'one of the two');
  const rope = fields.part(oneOf(fields, newer, older));
  const isObject = (value: unknown): boolean => isRecord(value) && !isArray(value);
  const kinds = rope?.names().filter((name) => isObject(rope.get(name))) ?? [];
  const [kind] = kinds;
  const own = kind === undefined ? rope : rope?.part(kind);
  if (rope && kind !== undefined) {
    const text = rope.textOf(kind);
    const other = kinds.find((each) => rope.textOf(each) !== text);
    if (other !== undefined)
      refuseUnsupported(`${rope.name} differs in ${kind} and ${other}`, 'one for all layers');
    for (const name of rope.names()) if (!kinds.includes(name)) rope.only(name);
  }
  for (const name of ['rope_type', 'type']) own?.only(name, ...ropeKinds);
  for (const name of own?.names() ?? []) if (!ropeFields.includes(name)) own?.only(name);
  return own;
}

/** Of config.json; `share` is the part of a head that is rotated where it does not say that, null if it must. */
export function hubRotary(fields: Fields, sizes: Sizes, share: number | null = 1): ModelRotary {
  const { dModel, numHeads, dK = dModel / numHeads, maxLength } = sizes;
  const rope = ropeOf(fields);
  const factor = 'partial_rotary_factor';
  const [of, name] = agreed([rope, factor], [fields, factor], [fields, 'rotary_pct']) ?? [
    fields,
    'rotary_pct',
  ];
  const part = of.number(name, share ?? undefined);
  if (!(part > 0 && part <= 1)) refuse(`${of.pathOf(name)} is ${part}`, '(0, 1]');
  const theta = 'rope_theta';
  const [at, base] = agreed([rope, theta], [fields, theta], [fields, 'rotary_emb_base']) ?? [
    fields,
    theta,
  ];
  const scaling = rope && scalingOf(rope, fields, maxLength);
  return {
    // The default of transformers, for each of these families.
    base: at.number(base, 10_000),
    ...(part !== 1 && { rotaryDim: Math.floor(dK * part) }),
    ...(scaling && { scaling }),
  };
}

/** As llama.cpp: linear where no type is told, the factor by its old name too, and 0 for none. */
function ggufScaling(fields: Fields, maxLength: number): ModelRotary['scaling'] {
  fields.only('rope.scaling.type', 'none', 'linear', 'yarn');
  const type = fields.text('rope.scaling.type', 'linear');
  const factor = fields.number(oneOf(fields, 'rope.scaling.factor', 'rope.scale_linear'), 0);
  const scale = fields.number('rope.scaling.attn_factor', 1);
  const isNone = type === 'none' || factor === 0;
  if (isNone || type !== 'yarn') {
    fields.only('rope.scaling.attn_factor', 1);
    return isNone ? undefined : { type: 'linear', factor };
  }
  // Less than 0 leaves it to the program, which mixes by the formula, as 1 does.
  if (fields.number('rope.scaling.yarn_ext_factor', -1) >= 0)
    fields.only('rope.scaling.yarn_ext_factor', 1);
  return {
    ...{ type: 'yarn', factor },
    originalLength: fields.count('rope.scaling.original_context_length', maxLength),
    betaFast: fields.number('rope.scaling.yarn_beta_fast', 32),
    betaSlow: fields.number('rope.scaling.yarn_beta_slow', 1),
    ...(scale !== 1 && { attentionFactor: scale * (1 + 0.1 * Math.log(factor)) }),
  };
}

/** Of GGUF. The scaling of Llama 3 is an array of the file, see rope-factors.ts. */
export function ggufRotary(fields: Fields, width: number, maxLength: number): ModelRotary {
  const rotaryDim = fields.count('rope.dimension_count', width);
  const scaling = ggufScaling(fields, maxLength);
  return {
    base: fields.number('rope.freq_base', 10_000),
    ...(rotaryDim !== width && { rotaryDim }),
    ...(scaling && { scaling }),
  };
}
