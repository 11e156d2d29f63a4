// Adapters of low rank as files of PEFT.

import type { WrittenAdapters } from '../../api/adapter-types.js';
import type { UniformAdapters } from '../../language/model-handles.js';
import { newFloats } from '../../arguments/values.js';
import { type StoredArray, writeSafetensors } from '../../formats/safetensors.js';
import { encode } from '../../formats/stored-numbers.js';
import type { ModelSpec } from '../model-spec.js';
import { blocksName, mapOf } from './blocks.js';
import { type AdaptedModule, type Member, modulesOf, type ModuleTable } from './modules.js';
import { peftConfig } from './peft-config.js';
import { transposed } from './transposed.js';

/** A [in, rank] and B [rank, out]. */
interface Pair {
  readonly a: Float32Array;
  readonly b: Float32Array;
}

/** The adapted maps of a module. */
interface Group {
  readonly module: AdaptedModule;
  readonly pairs: readonly (Pair & { readonly member: Member })[];
}

/** The same bits, also of -0 and NaN. */
function isSame(one: Float32Array, other: Float32Array): boolean {
  const [a, b] = [one, other].map(
    ({ buffer, byteOffset, length }) => new Int32Array(buffer, byteOffset, length),
  );
  return a !== undefined && b !== undefined && a.every((bits, i) => bits === b[i]);
}

/** Whether all maps of a module have one A, as PEFT has it. */
const isShared = ({ module, pairs }: Group): boolean =>
  pairs.length === module.members.length &&
  pairs.every(({ a }) => pairs[0] !== undefined && isSame(a, pairs[0].a));

function groupsOf(modules: ModuleTable['modules'], { arrays }: UniformAdapters): Group[] {
  const groups = Array.from(modules.values(), (module) => ({
    module,
    pairs: module.members.flatMap((member) => {
      const [a, b] = ['A', 'B'].map((half) => arrays.get(`${member.name}.lora${half}`));
      return a && b ? [{ member, a, b }] : [];
    }),
  }));
  return groups.filter(({ pairs }) => pairs.length > 0);
}

/** Both arrays of a module, in so many blocks. */
function arraysOf(fn: string, { module, pairs }: Group, rank: number, blocks: number) {
  const { inputs, outputs } = module;
  const whole = rank * blocks;
  const down = newFloats(fn, whole * inputs);
  const up = newFloats(fn, outputs * whole);
  pairs.forEach(({ member, a, b }, i) => {
    const first = blocks === 1 ? 0 : i * rank;
    down.set(transposed(fn, a, inputs), first * inputs);
    member.rows().forEach((row, j) => {
      for (let r = 0; r < rank; r += 1)
        up[row * whole + first + r] = (b[r * member.outputs + j] ?? 0) / member.factor;
    });
  });
  return [
    ['lora_A', encode(down, [whole, inputs], 'f32').array],
    ['lora_B', encode(up, [outputs, whole], 'f32').array],
  ] as const;
}

/** What wraps a model in PEFT. */
function taskOf({ config }: ModelSpec): string | null {
  if (!config.head) return 'FEATURE_EXTRACTION';
  return config.causal && config.classes === 0 ? 'CAUSAL_LM' : null;
}

export function writeAdapters(
  fn: string,
  spec: ModelSpec,
  adapters: UniformAdapters,
): WrittenAdapters {
  const { rank, alpha, dropout, base } = adapters;
  const { modules: known, prefix, isConv1D } = modulesOf(spec);
  const groups = groupsOf(known, adapters);
  // One way for all layers: that of the first which is not shared, if there is one.
  const apart = new Map(
    groups
      .filter((group) => group.module.members.length > 1 && !isShared(group))
      .map(({ module, pairs }) => [module.suffix, pairs.map(({ member }) => mapOf(member.name))]),
  );
  const before = spec.config.head ? prefix : '';
  const arrays = new Map<string, StoredArray>();
  for (const group of groups) {
    const { path, suffix } = group.module;
    for (const [half, array] of arraysOf(fn, group, rank, apart.get(suffix)?.length ?? 1))
      arrays.set(`base_model.model.${before}${path}.${half}.weight`, array);
  }
  const metadata = new Map([['format', 'pt']]);
  if (apart.size > 0) metadata.set(blocksName, JSON.stringify(Object.fromEntries(apart)));
  // The ends of paths, unless another module ends so too.
  const suffixes = new Set(Array.from(known.values(), ({ suffix }) => suffix));
  const isClear = (suffix: string): boolean =>
    ![...suffixes].some((other) => other.endsWith(`.${suffix}`));
  const modules = new Map(
    groups.map(({ module: { path, suffix } }) => [
      isClear(suffix) ? suffix : `${before}${path}`,
      apart.get(suffix)?.length ?? 1,
    ]),
  );
  const of = { rank, alpha, dropout, base, taskType: taskOf(spec), isConv1D, modules };
  return {
    'adapter_config.json': new TextEncoder().encode(peftConfig(of)),
    'adapter_model.safetensors': writeSafetensors({ metadata, arrays }),
  };
}
