// Models of the Hugging Face hub: from a config.json, whose words are those of transformers, to a config. A size or number that
// should be there is not guessed.

import type { LanguageModelConfig } from '../../api/model-config.js';
import { refuseUnsupported } from '../errors.js';
import type { Fields } from '../fields.js';
import type { Family, Hub, Read } from './family.js';
import { common, type Fixed } from './fixed.js';
import { scoreOfLast } from './heads.js';
import * as all from './index.js';
import { jinaType } from './jina-bert-v2.js';
import { type Unturned, withBothSides, withDirection, withTurns } from './layered.js';
import { plain } from './plain-activations.js';
import { hubLocal, hubRotary } from './rope.js';
import { sizesOf, words } from './sizes.js';
import { checkComputed } from './unread.js';
import { hubWindow } from './windows.js';

type Activation = NonNullable<LanguageModelConfig['activation']>;
type OfHub = Family & Required<Pick<Family, 'hub'>>;

const isOfHub = (family: Family): family is OfHub => family.hub !== undefined;
/** The families by their `model_type`s. */
const families: Readonly<Record<string, OfHub>> = Object.fromEntries(
  Object.values<Family>(all)
    .filter(isOfHub)
    .flatMap((family) => family.types.map((type) => [type, family])),
);

/** What is read where no family says others. */
const usualSizes =
  'num_hidden_layers hidden_size num_attention_heads intermediate_size max_position_embeddings num_key_value_heads head_dim';

const gated: Readonly<Record<string, Activation>> = {
  ...{ silu: 'swiglu', swish: 'swiglu', gelu: 'geglu', gelu_new: 'geglu_tanh' },
  gelu_pytorch_tanh: 'geglu_tanh',
};

/** What of config.json says how its weights were quantised, which have other arrays then. */
const quantised = ['quantization_config', 'quantization', 'compression_config'];

function checkQuantised(fields: Fields): void {
  for (const field of quantised) {
    if (fields.isEmpty(field)) continue;
    refuseUnsupported(
      `${fields.pathOf(field)} is ${fields.textOf(field).slice(0, 120)}`,
      'weights that are not quantised: take the model in BF16 or F16 of which these were made, or its GGUF file in Q8_0',
    );
  }
}

/** Code that comes with a model may compute anything, unless its classes are those that the family is read by. */
function checkOwnCode(fields: Fields, { classes }: Hub): void {
  const field = 'auto_map';
  const map = fields.isEmpty(field) ? undefined : fields.part(field);
  const names = map?.names().filter((name) => name.startsWith('AutoModel')) ?? [];
  const classOf = (name: string): string => map?.text(name).split('.').pop() ?? '';
  if (names.every((name) => classes !== undefined && classOf(name).startsWith(classes))) return;
  refuseUnsupported(
    `${fields.pathOf(field)} is ${fields.textOf(field).slice(0, 120)}: code of the model's own`,
    `none; give the config without it if you know that the model computes as ${fields.text('model_type')} of transformers does`,
  );
}

/** Of a `model_type`: the values of fields with which a file can be read. */
export function hubFixed(type: string): Fixed {
  const { fixed, obeyed = '' } = families[type]?.hub ?? {};
  const isFixed = ([name]: [string, unknown]): boolean => !words(obeyed).includes(name);
  return Object.fromEntries(Object.entries({ ...common, ...fixed }).filter(isFixed));
}

/** How files of a family of the hub have its arrays; undefined for a family that is none of it. */
export function hubOf(
  type: string,
): { readonly hub: Hub; readonly isInterleaved: boolean } | undefined {
  const family = new Map(Object.entries(families)).get(type);
  return family && { hub: family.hub, isInterleaved: family.traits.rotary?.interleaved === true };
}

/** What stands in its field, or what the family has where none is read. */
function activationOf(fields: Fields, { traits, hub }: OfHub): Activation {
  if (!hub.activation && traits.activation) return traits.activation;
  const [field, fallback] = hub.activation ?? ['hidden_act'];
  const isGated = traits.normType === 'rms' || /glu/.test(traits.activation ?? '');
  return fields.choice(field, isGated ? gated : plain, fallback);
}

/** What config.json says of a model. */
export function readHub(fields: Fields): Read {
  checkComputed(fields, 'model_type');
  const given = fields.choice('model_type', families);
  const isJina = given.types.includes('bert') && fields.get('position_embedding_type') === 'alibi';
  const family = isJina ? jinaType : fields.text('model_type');
  const described = families[family] ?? given;
  const { traits, scaled, hub } = described;
  checkQuantised(fields);
  checkOwnCode(fields, hub);
  const fixed = hubFixed(family);
  for (const [field, values] of Object.entries(fixed)) fields.only(field, ...values);
  const sizes = sizesOf(fields, hub.sizes ?? usualSizes, hub.isFourfold);
  const { epsilon = traits.normType === 'rms' ? 'rms_norm_eps' : 'layer_norm_eps' } = hub;
  const more = hub.more?.(fields, sizes);
  const config: Unturned & { family: string } = {
    ...{ ...traits, family, ...sizes, ...scaled?.(sizes) },
    activation: activationOf(fields, described),
    vocabulary: fields.count('vocab_size'),
    epsilon: traits.epsilon ?? fields.number(epsilon),
    // A family with a base has no field for any of it.
    ...(traits.positions === 'rotary' && {
      rotary: traits.rotary?.base
        ? traits.rotary
        : { ...traits.rotary, ...hubRotary(fields, sizes, hub, hub.local && 'full_attention') },
    }),
    ...(traits.head !== false && {
      tiedEmbeddings: fields.flag('tie_word_embeddings', hub.isTied ?? false),
    }),
    ...hubWindow(fields, sizes.numLayers, hub.slides, hub.window),
    ...more?.config,
  };
  const usual = config.causal ?? true;
  // T5 has one direction in each half: the field can only say what is so.
  const isSaid = !('is_causal' in fixed) && !fields.isEmpty('is_causal');
  const isCausal = isSaid ? fields.flag('is_causal') : usual;
  const local = hubLocal(fields, sizes, hub, config.rotary);
  const turned = withTurns(withBothSides(config), described.layers?.(config, fields), local);
  return {
    config: withDirection(turned, isCausal, fields.pathOf('is_causal')),
    names: { ...hub.names, ...more?.names },
    heads: () => hub.tasks?.(fields) ?? (isCausal ? scoreOfLast : {}),
  };
}
