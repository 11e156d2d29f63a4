// Rotary positions, as files say them.

import type { LongRopeScaling, ModelRotary } from '../../api/model-config.js';
import { isObject, isRecord } from '../../arguments/values.js';
import { refuse, refuseUnsupported } from '../errors.js';
import { agreed, type Fields, oneOf } from '../fields.js';
import type { Hub } from './family.js';
import { type Sizes, words } from './sizes.js';

const original = 'original_max_position_embeddings';

/** The kind of scaling; 'default' is none. */
function kindOf(rope: Fields): unknown {
  const [, kind = 'rope_type'] = agreed([rope, 'rope_type'], [rope, 'type']) ?? [];
  return rope.get(kind) ?? 'default';
}

/** A factor for each pair, as transformers reads them. */
function longRope(rope: Fields, fields: Fields, maxLength: number): LongRopeScaling {
  for (const field of ['short_mscale', 'long_mscale']) rope.only(field);
  const originalLength = (rope.has(original) ? rope : fields).count(original);
  const stretched = maxLength / originalLength;
  const factor = fields.has(original) ? stretched : rope.number('factor', stretched);
  const usual = factor <= 1 ? 1 : Math.sqrt(1 + Math.log(factor) / Math.log(originalLength));
  return {
    ...{ type: 'longrope', originalLength },
    ...{ shortFactors: rope.numbers('short_factor'), longFactors: rope.numbers('long_factor') },
    attentionFactor: rope.number('attention_factor', usual),
  };
}

/** How positions beyond the trained length are stretched. */
function scalingOf(rope: Fields, fields: Fields, maxLength: number): ModelRotary['scaling'] {
  const type = kindOf(rope);
  if (type === 'default' || type === 'dynamic') return undefined;
  if (type === 'longrope' || type === 'su') return longRope(rope, fields, maxLength);
  const factor = rope.number('factor');
  if (type === 'linear') return { type, factor };
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
    'high_freq_factor beta_fast beta_slow attention_factor mscale mscale_all_dim truncate finetuned ' +
    'short_factor long_factor short_mscale long_mscale alpha',
);

/**
 * The object with what is said of the rotation, of which newer files have one for each kind of layer: that of `wanted`, or the one
 * that all have.
 */
function ropeOf(
  fields: Fields,
  wanted: string | undefined,
  scalings: readonly string[],
): Fields | undefined {
  const [newer, older] = ['rope_parameters', 'rope_scaling'];
  const isTwice = fields.has(newer) && fields.has(older);
  if (isTwice && fields.textOf(newer) !== fields.textOf(older))
    refuse(`${fields.pathOf(newer)} and ${fields.pathOf(older)} differ`, 'one of the two');
  const rope = fields.part(oneOf(fields, newer, older));
  const kinds = rope?.names().filter((name) => isObject(rope.get(name))) ?? [];
  const kind = wanted !== undefined && kinds.includes(wanted) ? wanted : kinds[0];
  const own = kind === undefined ? rope : rope?.part(kind);
  if (rope && kind !== undefined) {
    const text = rope.textOf(kind);
    const other = kinds.find((each) => wanted === undefined && rope.textOf(each) !== text);
    if (other !== undefined)
      refuseUnsupported(`${rope.name} differs in ${kind} and ${other}`, 'one for all layers');
    for (const name of rope.names()) if (!kinds.includes(name)) rope.only(name);
  }
  for (const name of ['rope_type', 'type']) own?.only(name, ...ropeKinds, ...scalings);
  for (const name of own?.names() ?? []) if (!ropeFields.includes(name)) own?.only(name);
  return own;
}

/** The base where it is stretched with the part of a head that is rotated, as Hunyuan has it. */
function stretchedBase(rope: Fields, base: number, dK: number): number {
  const alpha = rope.number('alpha');
  if (!(alpha > 0)) refuse(`${rope.pathOf('alpha')} is ${alpha}`, 'a number above 0');
  return base * alpha ** (dK / (dK - 2));
}

/**
 * Of config.json: the rotation of the family, or with `kind` that of the layers of this kind where newer files have one for each.
 * The share of a head that is rotated is 1 where neither the file nor the family says it.
 */
export function hubRotary(fields: Fields, sizes: Sizes, hub: Hub, kind?: string): ModelRotary {
  const { dModel, numHeads, dK = dModel / numHeads, maxLength } = sizes;
  const { share = 1, base: fallback = 10_000, theta = 'rope_theta', scalings = [] } = hub;
  const rope = ropeOf(fields, kind, scalings);
  const factor = 'partial_rotary_factor';
  const [of, name] = agreed([rope, factor], [fields, factor], [fields, 'rotary_pct']) ?? [
    fields,
    'rotary_pct',
  ];
  const part = of.number(name, share ?? undefined);
  if (!(part > 0 && part <= 1)) refuse(`${of.pathOf(name)} is ${part}`, '(0, 1]');
  const [at, baseName] = agreed(
    ...([
      [rope, 'rope_theta'],
      [fields, theta],
      [fields, 'rotary_emb_base'],
    ] as const),
  ) ?? [fields, theta];
  const scaling = rope && scalingOf(rope, fields, maxLength);
  // The default of transformers.
  const base = at.number(baseName, fallback);
  return {
    base: rope && kindOf(rope) === 'dynamic' ? stretchedBase(rope, base, dK) : base,
    ...(part !== 1 && { rotaryDim: Math.floor(dK * part) }),
    ...(scaling && { scaling }),
  };
}

/** The rotation of layers with a window, where the family has one: without a scaling but for what newer files say. */
export function hubLocal(
  fields: Fields,
  sizes: Sizes,
  hub: Hub,
  full: ModelRotary | undefined,
): ModelRotary | undefined {
  if (!hub.local || !full) return undefined;
  const [theta, base] = hub.local;
  const kind = 'sliding_attention';
  const isApart = isRecord(
    fields.part(oneOf(fields, 'rope_parameters', 'rope_scaling'))?.get(kind),
  );
  if (isApart) return hubRotary(fields, sizes, { ...hub, theta, base }, kind);
  const { rotaryDim } = full;
  return { base: fields.number(theta, base), ...(rotaryDim !== undefined && { rotaryDim }) };
}

/** As llama.cpp reads it: linear where no type is given, the factor by its old name too, and a factor of 0 as none. */
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

/** Of a file with a factor for each pair, which are not read yet. */
const ggufLong = (fields: Fields, maxLength: number): LongRopeScaling => ({
  ...{ type: 'longrope', shortFactors: [], longFactors: [] },
  originalLength: fields.count('rope.scaling.original_context_length', maxLength),
  attentionFactor: fields.number('rope.scaling.attn_factor', 1),
});

/** Of GGUF. The scalings of Llama 3 and, with `hasFactors`, of Phi-3 are arrays of the file, see rope-factors.ts. */
export function ggufRotary(
  fields: Fields,
  width: number,
  { maxLength }: Sizes,
  { base = 10_000, hasFactors = false }: { base?: number | undefined; hasFactors?: boolean },
): ModelRotary {
  const rotaryDim = fields.count('rope.dimension_count', width);
  const scaling = hasFactors ? ggufLong(fields, maxLength) : ggufScaling(fields, maxLength);
  return {
    base: fields.number('rope.freq_base', base),
    ...(rotaryDim !== width && { rotaryDim }),
    ...(scaling && { scaling }),
  };
}
