// Small models of random numbers from a config of ours, and their tensors by the names of a file.
import { randomArray } from '../../../support/js/arrays.js';
import { arraysOf, withDefaults } from '../../../support/js/model-oracle.js';
import { exactly } from './numbers.js';
import { part, stacked, turned } from './truth.js';

/** The module of one of our arrays, and whether it is its weight or its bias. */
function moduleOf(name) {
  const [first, second = '', third, fourth] = name
    .replace(/^(encoder\.)?(layers\.\d+\.)?/, '')
    .split('.');
  if (first === 'headBias') return ['head', 'bias'];
  if (first === 'headTransform') {
    return second === 'norm'
      ? ['headNorm', third === 'beta' ? 'bias' : 'weight']
      : ['headTransform', second === 'b' ? 'bias' : 'weight'];
  }
  if (first === 'cross')
    return [`cross${second[1].toUpperCase()}`, second[0] === 'w' ? 'weight' : 'bias'];
  if (first !== 'attention' && first !== 'feedForward')
    return [first, second === 'beta' ? 'bias' : 'weight'];
  if (second.endsWith('Gamma')) return [`${second[0]}Norm`, 'weight'];
  if (second === 'experts') {
    const [expert, map] = [third, fourth];
    return [{ w1: 'up', wGate: 'gate', w2: 'down' }[map], 'weight', Number(expert)];
  }
  if (second === 'router') return ['router', 'weight'];
  const module = second.slice(1);
  return [{ 1: 'up', Gate: 'gate', 2: 'down' }[module] ?? module, second[0] === 'w' ? 'weight' : 'bias']; // prettier-ignore
}

/** Numbers that are exact in every format: gains near 1. */
const numbers = {
  gain: (x) => 1 + Math.round(x * 31) / 64,
  other: exactly,
};

/** In turn of each group its rows of all. */
const inTurn = (all, groups) =>
  stacked(
    ...Array.from({ length: groups }, (_, group) =>
      all.map((rows) => {
        const size = rows.shape[0] / groups;
        return part(rows, group * size, (group + 1) * size);
      }),
    ).flat(),
  );

const order = ['q', 'k', 'v', 'gate', 'up'];

/**
 * { truth, tensors } of a config. `names` has the name of each module, `layers` what is before those of a layer; modules
 * of one name are one map, of q, k and v `byHead` in turn. `constants` are arrays, as 'o.bias', that are ones or zeros and in no file;
 * what the file has is divided by the `factors` of modules, less 1 for gains with `lessOne`; `firstRow` rows come before the positions;
 * `columns` are files whose maps are [in, out]; of `same` a module is the one that it names, which a file has once. Times `maps`,
 * an eighth, maps keep the size of what they map. `encoder` has the names and the `layers` of an encoder that there is besides.
 */
export function built(
  config,
  { names, layers, byHead, constants, factors = {}, lessOne, columns, same = {}, firstRow = 0, maps = 1 / 8, encoder }, // prettier-ignore
) {
  const { numKvHeads, dModel } = withDefaults(config);
  const arrays = {};
  const parts = {};
  for (const [seed, [name, shape]] of arraysOf(config).entries()) {
    const [module, of, expert] = moduleOf(name);
    const isOfEncoder = name.startsWith('encoder.');
    const file = isOfEncoder ? encoder : { names, layers };
    const isVector = shape.length === 1;
    const isGain = isVector && of === 'weight';
    const isMap =
      !isVector && !/^(embedding|positions|tokenTypes|(encoder.)?relativeBias)$/.test(name);
    if (same[module]) {
      arrays[name] = arrays[name.replace(module, same[module])];
      continue;
    }
    const isConstant = isVector && constants?.test(`${module}.${of}`);
    const kind = isGain ? numbers.gain : isMap ? (x) => maps * exactly(x) : numbers.other;
    const data = randomArray(shape, seed).data.map((x) => (isConstant ? Number(isGain) : kind(x)));
    arrays[name] = { shape, data };
    if (isConstant) continue;
    const [factor, less] = [
      (!isOfEncoder && factors[module]) || 1,
      Number(Boolean(lessOne && isGain)),
    ];
    // The array itself where it is the same, so that a test can change both.
    const values = factor === 1 && less === 0 ? data : data.map((x) => x / factor - less);
    const [, layer] = /layers\.(\d+)/.exec(name) ?? [];
    const place = file.names[module]?.replace('{}', expert);
    const tensor = `${layer === undefined ? '' : `${file.layers}${layer}.`}${place}.${of}`;
    const before = {
      shape: [firstRow, dModel],
      values: new Float32Array(firstRow * dModel).fill(7),
    };
    const own = isMap ? turned({ shape, values }) : { shape, values };
    const rows = module === 'positions' && firstRow > 0 ? stacked(before, own) : own;
    (parts[tensor] ??= []).push({ module, expert, ...rows });
  }
  const tensors = Object.entries(parts).map(([name, all]) => {
    // Of experts in one tensor the maps of each lie together.
    const of = ({ expert = 0 }) => expert;
    all.sort((a, b) => of(a) - of(b) || order.indexOf(a.module) - order.indexOf(b.module));
    if (of(all.at(-1)) > of(all[0])) {
      const { shape, values } = stacked(...all);
      const experts = of(all.at(-1)) + 1;
      return [name, { shape: [experts, shape[0] / experts, shape[1]], values }];
    }
    const [first] = all;
    const rows = all.length === 1 ? first : inTurn(all, byHead && first.module === 'q' ? numKvHeads : 1); // prettier-ignore
    const isMap = order.concat('o', 'down').includes(first.module) && rows.shape.length === 2;
    return [name, columns && isMap ? turned(rows) : rows];
  });
  return { truth: { arrays }, tensors: Object.fromEntries(tensors) };
}
