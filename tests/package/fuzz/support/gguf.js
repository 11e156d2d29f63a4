// GGUF files with faults in their structure: any metadata, tokenizers that do not fit, arrays that lie.
import fc from 'fast-check';
import { concat, gguf, ggufFile } from '../../models/support/files.js';
import { charMapBytes } from '../../models/support/char-map.js';
import { ggufModels } from '../../models/support/gguf-models.js';
import { edges } from './bytes.js';
import { oddNames, oddNumbers } from './json.js';
import { share } from './safetensors.js';

const numbers = Object.keys(gguf).filter((kind) => !['text', 'list'].includes(kind));

/** A value of a scalar type, wrapped as its array wraps it. */
function scalarOf([kind, number]) {
  if (!['u64', 'i64'].includes(kind)) return gguf[kind](number);
  return gguf[kind](BigInt(Math.trunc(number)));
}
const length = (count) => gguf.u64(count).bytes;
const textOf = (bytes) => ({ type: 8, bytes: concat(length(bytes.length), bytes) });
const number = fc.constantFrom(...oddNumbers, NaN, Infinity, -Infinity);
const scalar = fc.tuple(fc.constantFrom(...numbers), fc.constantFrom(...oddNumbers)).map(scalarOf);
/** Bytes that are mostly no UTF-8. */
const text = fc.uint8Array({ maxLength: 12 }).map(textOf);
const listOf = (kind, values) => gguf.list(values.map(gguf[kind]), gguf[kind](0).type);
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    ...[scalar, text, tie('list')],
    fc.array(number, { maxLength: 5 }).map((all) => listOf('f32', all)),
    // Of any type, with as many elements as it likes to say.
    fc.record({ type: fc.nat(14), bytes: fc.uint8Array({ maxLength: 24 }) }),
    fc.tuple(fc.nat(14), fc.constantFrom(...edges)).map(([type, count]) => ({ type: 9, bytes: concat(gguf.u32(type).bytes, length(count)) })),
  ),
  list: fc.array(tie('value'), { minLength: 1, maxLength: 3 }).map((all) => gguf.list(all)),
})); // prettier-ignore

const texts = (all) => gguf.list(all.map(gguf.text), 8);
const pieces = [
  '<unk>',
  '<s>',
  'a',
  'b',
  'ab',
  '\u2581',
  '\u2581ab',
  '<0x41>',
  '<|end|>',
  '<|end|>x',
];
/** Tokenizers of three kinds, for a vocabulary of eleven. */
const tokenizers = {
  llama: {
    ...{
      tokens: texts(pieces),
      scores: listOf(
        'f32',
        pieces.map((_, i) => -i),
      ),
    },
    ...{ token_type: listOf('i32', [2, 3, 1, 1, 1, 1, 1, 6, 3, 4]), bos_token_id: gguf.u32(1) },
  },
  gpt2: {
    ...{ tokens: texts(pieces), merges: texts(['a b', 'x y', 'a', '', 'ab ab']) },
    ...{ token_type: listOf('i32', [2, 3, 1, 1, 1, 1, 1, 6, 3, 4]), pre: gguf.text('qwen2') },
  },
  t5: {
    ...{ tokens: texts(pieces), scores: listOf('f32', pieces.map((_, i) => -i)) }, // prettier-ignore
    ...{ token_type: listOf('i32', [2, 3, 1, 1, 1, 1, 1, 6, 3, 4]) },
    precompiled_charsmap: listOf('u8', [...charMapBytes({ a: 'b', '\u00e9': 'ab' })]),
  },
};
const models = Object.entries(ggufModels).map(([name, make], i) => {
  const { tensors, metadata } = make();
  const model = Object.keys(tokenizers)[i % 3];
  const own = Object.entries({ model: gguf.text(model), ...tokenizers[model] });
  const keys = own.map(([key, each]) => [`tokenizer.ggml.${key}`, each]);
  return { name, tensors, metadata: [...metadata, ...keys] };
});

const kinds = [
  ...['value', 'value', 'value', 'key', 'again', 'drop', 'count', 'version', 'alignment'],
  ...['name', 'type', 'rank', 'extent', 'extent', 'offset', 'missing', 'cut', 'nothing'],
]; // prettier-ignore

/** A model of some family, and what is done to its file. */
export const cases = fc.record({
  model: fc.nat(models.length - 1),
  faults: fc.array(
    fc.record({
      ...{ kind: fc.constantFrom(...kinds), at: share, other: share, value },
      ...{ name: fc.nat(oddNames.length - 1), edge: fc.constantFrom(...edges), type: fc.nat(40) },
    }),
    { minLength: 1, maxLength: 3 },
  ),
});

const placeIn = (list, at) => Math.floor(at * list.length);

/** What a fault does to the metadata, the arrays and what is said of them. */
const deeds = {
  value: ({ metadata }, { at, value: other }) => { metadata[placeIn(metadata, at)][1] = other; },
  key: ({ metadata }, { at, name }) => { metadata[placeIn(metadata, at)][0] = oddNames[name]; },
  again: ({ metadata }, { at }) => metadata.push(metadata[placeIn(metadata, at)]),
  drop: ({ metadata }, { at }) => metadata.splice(placeIn(metadata, at), metadata.length > 1 ? 1 : 0),
  count: (file, { at, edge }) => { file.options.counts = at < 0.5 ? [edge] : [undefined, edge]; },
  version: (file, { type }) => { file.options.version = type; },
  alignment: (file, { at, edge }) => {
    if (at < 0.5) file.options.alignment = 2 ** (edge === 0n ? 0 : 7);
    else file.metadata.push(['general.alignment', gguf.u32(Number(BigInt.asUintN(32, edge)))]);
  },
  missing: (file, { at }) => file.tensors.splice(placeIn(file.tensors, at), 1),
  cut: (file, { at }) => { file.keep = at; },
  nothing: () => undefined,
}; // prettier-ignore

/** [name, tensor, offset] of what is said of an array: something else, where the fault is about this one. */
const lies = {
  name: ([, tensor, offset], { name }) => [oddNames[name], tensor, offset],
  type: ([name, tensor, offset], { type }) => [name, { ...tensor, type }, offset],
  rank: ([name, tensor, offset], { type }) => [name, { ...tensor, shape: Array(type).fill(1) }, offset],
  extent: ([name, { shape, ...rest }, offset], { other, edge }) => [name, { ...rest, shape: shape.length > 0 ? shape.with(placeIn(shape, other), edge) : shape }, offset],
  offset: ([name, tensor], { edge }) => [name, tensor, edge],
}; // prettier-ignore

/** The bytes of such a file. */
export function fileOf({ model, faults }) {
  const { tensors, metadata } = models[model];
  const file = { metadata: metadata.map((pair) => [...pair]), tensors: Object.entries(tensors), options: {}, keep: 1 }; // prettier-ignore
  for (const fault of faults) deeds[fault.kind]?.(file, fault);
  const names = file.tensors.map(([name]) => name);
  const says = (...told) =>
    faults
      .filter(({ kind, at }) => kind in lies && names[placeIn(names, at)] === told[0])
      .reduce((now, fault) => lies[fault.kind](now, fault), told);
  const bytes = ggufFile(file.metadata, Object.fromEntries(file.tensors), {
    ...file.options,
    says,
  });
  return bytes.subarray(0, Math.ceil(file.keep * bytes.length));
}

export const familyOf = ({ model }) => models[model].name;
