// The maps of a model as modules of transformers, whose names adapters have: by the names that families/ has for their weights.

import type { ModelRotary } from '../../api/model-config.js';
import { parametersOf, type Parameter } from '../config.js';
import { refuseUnsupported } from '../errors.js';
import { hubOf } from '../families/hub.js';
import { locateBy, type Locate, type Names } from '../families/locate.js';
import type { ModelSpec } from '../model-spec.js';

/** A map of the model in a module, which may have others besides: q, k and v, or gate and up. */
export interface Member {
  /** The name of its array. */
  readonly name: string;
  readonly outputs: number;
  /** Which output of the module each of its own is. */
  readonly rows: () => Int32Array;
  /** What its weights were multiplied by. */
  readonly factor: number;
}

export interface AdaptedModule {
  /** As transformers has it, before the name of the weight. */
  readonly path: string;
  /** The same without what is before the number of the layer, and without that. */
  readonly suffix: string;
  readonly layer: number | undefined;
  readonly inputs: number;
  /** Of all members. */
  readonly outputs: number;
  readonly members: readonly Member[];
}

/** The modules of a model by their paths, without what classes put before. */
export interface ModuleTable {
  readonly prefix: string;
  /** Whether modules are of the class Conv1D, which has its weights as [in, out]. */
  readonly isConv1D: boolean;
  readonly modules: ReadonlyMap<string, AdaptedModule>;
}

/** Models that are of no family of the hub have modules by the names of their arrays. */
const ownNames: Names = { modules: {}, layers: 'layers.' };
const locateOwn: Locate = ({ name, shape }) => ({
  ...{ tensor: `${name}.weight`, shape: [...shape].reverse(), layout: 'out_in' },
  ranges: () => [[0, shape[1] ?? 0]],
});

/** The names of the hub for a model, out of whatever file it is. */
function namesOf({ names, config }: ModelSpec): Names {
  if (names) return names;
  const { family } = config;
  const { hub } = hubOf(family) ?? {};
  if (hub?.isByConfig) {
    refuseUnsupported(
      `adapters are of a ${family} that is not out of files of the hub`,
      'one with its config.json, which has the factors of its maps',
    );
  }
  return hub?.names ?? ownNames;
}

/** Whether pairs of a rotation that lie side by side here are halves of a head in files of the hub: GGUF and llama2.c turn them so. */
function isTurned({ config }: ModelSpec): boolean {
  const { positions, rotary, family, dK } = config;
  const kinds = (Array.isArray(rotary) ? rotary : [rotary]) as readonly (ModelRotary | null)[];
  const own = kinds.find((each) => each?.interleaved === true);
  const known = hubOf(family);
  if (positions !== 'rotary' || !known || (own !== undefined) === known.isInterleaved) return false;
  if (!own || (own.rotaryDim ?? dK) !== dK) {
    refuseUnsupported(
      `adapters are of a ${family} whose rotation differs from that of the hub`,
      'the same, or one of whole heads that GGUF has interleaved',
    );
  }
  return true;
}

/** Output j of a map with heads of this width, as halves, where j is as pairs. */
const asHalves = (j: number, width: number): number => {
  const inHead = j % width;
  return j - inHead + (inHead % 2) * (width / 2) + Math.floor(inHead / 2);
};

function memberOf(
  { name, module, shape }: Parameter,
  { ranges, factor = 1 }: Exclude<ReturnType<Locate>, { readonly constant: number }>,
  headWidth: number | undefined,
): Member {
  const outputs = shape[1] ?? 0;
  const rows = (): Int32Array => {
    const all = Int32Array.from(
      ranges().flatMap(([from, to]) => Array.from({ length: to - from }, (_, i) => from + i)),
    );
    if (headWidth === undefined || !/^[qk]$/.test(module)) return all;
    return all.map((_, j) => all[asHalves(j, headWidth)] ?? 0);
  };
  return { name, outputs, rows, factor };
}

export function modulesOf(spec: ModelSpec): ModuleTable {
  const { config } = spec;
  const names = namesOf(spec);
  const locate = names === ownNames ? locateOwn : locateBy(names, config);
  const headWidth = isTurned(spec) ? config.dK : undefined;
  const modules = new Map<string, AdaptedModule & { members: Member[] }>();
  for (const parameter of parametersOf(config)) {
    if (parameter.kind !== 'map') continue;
    const place = locate(parameter);
    // What has a matrix for each expert in one array is no module of one map.
    if ('constant' in place || place.isStacked) continue;
    const path = place.tensor.replace(/\.weight$/, '');
    const member = memberOf(parameter, place, headWidth);
    const known = modules.get(path);
    if (known) {
      known.members.push(member);
      continue;
    }
    const { layer, shape, isOfEncoder } = parameter;
    const [inputs = 0] = shape;
    const [first = 0, second = 0] = place.shape;
    const { layers } = (isOfEncoder && names.encoder) || names;
    modules.set(path, {
      ...{ path, layer, inputs, outputs: place.layout === 'in_out' ? second : first },
      suffix: layer === undefined ? path : path.slice(`${layers}${layer}.`.length),
      members: [member],
    });
  }
  const { prefix = '', layout } = names;
  return { prefix, isConv1D: layout === 'in_out', modules };
}
