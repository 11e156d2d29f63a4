// safetensors files with faults in their structure: entries that lie, names that are odd, headers that are too short.
import fc from 'fast-check';
import { partsOf } from '../../../support/js/safetensors.js';
import { concat } from '../../models/support/files.js';
import { edges } from './bytes.js';
import { anyJson, jsonText, objectText, oddNames, oddNumbers } from './json.js';

/** A share of a whole, evenly, because numbers of fast-check are mostly small. */
export const share = fc.noBias(fc.nat(2 ** 20 - 1)).map((x) => x / 2 ** 20);
const kinds = [
  ...['field', 'field', 'type', 'extent', 'extent', 'offset', 'offset', 'swap', 'overlap', 'again', 'shadow'],
  ...['rename', 'remove', 'add', 'empty', 'metadata', 'config', 'config', 'length', 'data'],
]; // prettier-ignore

/** One to three things that are done to a file. */
export const faults = fc.array(
  fc.record({
    kind: fc.constantFrom(...kinds),
    at: share,
    other: share,
    key: fc.constantFrom('dtype', 'shape', 'data_offsets', 'other'),
    /** A place in `oddNames`, of which some are long. */
    name: fc.nat(oddNames.length - 1),
    value: anyJson,
    number: fc.constantFrom(...oddNumbers),
    edge: fc.constantFrom(...edges),
    type: fc.constantFrom('F32', 'I32', 'U32', 'F16', 'BF16', 'I8', 'U8', 'F64', 'F8_E4M3'),
    count: fc.integer({ min: -40, max: 40 }),
    of: fc.constantFrom('format', 'kind', 'config', 'tokenizer', 'steps'),
  }),
  { minLength: 1, maxLength: 3 },
);

/** A file as its parts: entries and metadata as texts of JSON by their names, and the elements. */
function textsOf(file) {
  const { header, data } = partsOf(file);
  const { __metadata__: metadata = {}, ...entries } = header;
  const texts = (of) => Object.entries(of).map(([name, value]) => [name, JSON.stringify(value)]);
  return {
    entries: texts(entries).map(([name]) => [name, texts(entries[name])]),
    metadata: texts(metadata),
    data,
  };
}

const pick = (list, at) => list[Math.floor(at * list.length)];

/** One element of a list in a field of an entry is another number. */
function change(entry, key, at, number) {
  const field = entry.find(([name]) => name === key);
  const list = field && JSON.parse(field[1].startsWith('[[') ? '[]' : field[1]);
  if (!Array.isArray(list) || list.length === 0) return;
  list[Math.floor(at * list.length)] = number;
  field[1] = JSON.stringify(list);
}

/** Sets a field of pairs, or adds it. */
function set(pairs, name, text) {
  const pair = pairs.find(([own]) => own === name);
  if (pair) pair[1] = text;
  else pairs.push([name, text]);
}

/** One field of the config in the metadata is another value, as far as there is one. */
function changeConfig(metadata, { at, value }) {
  const config = metadata.find(([name]) => name === 'config');
  let texts = [];
  try {
    const pairs = Object.entries(JSON.parse(JSON.parse(config[1])));
    texts = pairs.map(([name, own]) => [name, JSON.stringify(own)]);
  } catch {
    // No JSON any more, or deeper than can be followed.
  }
  if (texts.length === 0) return;
  pick(texts, at)[1] = jsonText(value);
  config[1] = JSON.stringify(objectText(texts));
}

/** What each kind of fault does to the parts. */
const deeds = {
  field: ({ entries }, { at, key, value }) => set(pick(entries, at)[1], key, jsonText(value)),
  type: ({ entries }, { at, type }) => set(pick(entries, at)[1], 'dtype', JSON.stringify(type)),
  extent: ({ entries }, { at, other, number }) => change(pick(entries, at)[1], 'shape', other, number),
  offset: ({ entries }, { at, other, number }) => change(pick(entries, at)[1], 'data_offsets', other, number),
  swap({ entries }, { at, other }) {
    const [a, b] = [pick(entries, at), pick(entries, other)];
    [a[0], b[0]] = [b[0], a[0]];
  },
  overlap({ entries }, { at, other }) {
    const offsets = pick(entries, other)[1].find(([name]) => name === 'data_offsets');
    if (offsets) set(pick(entries, at)[1], 'data_offsets', offsets[1]);
  },
  /** Twice by the same name: the same, and something else. */
  again: ({ entries }, { at }) => entries.push(pick(entries, at)),
  shadow: ({ entries }, { at, value }) => entries.unshift([pick(entries, at)[0], [['dtype', jsonText(value)]]]),
  rename: ({ entries }, { at, name }) => { pick(entries, at)[0] = oddNames[name]; },
  remove: ({ entries }, { at }) => entries.splice(Math.floor(at * entries.length), entries.length > 1 ? 1 : 0),
  add: ({ entries }, { at, name }) => entries.push([oddNames[name], pick(entries, at)[1]]),
  empty: ({ entries }, { name }) => entries.push([oddNames[name], [['dtype', '"U8"'], ['shape', '[0]'], ['data_offsets', '[0,0]']]]),
  metadata: ({ metadata }, { of, value }) => set(metadata, of, jsonText(value)),
  config: ({ metadata }, fault) => changeConfig(metadata, fault),
  length: (parts, { edge, count, at }) => { parts.length = at < 0.5 ? { edge } : { count }; },
  data: (parts, { count }) => { parts.data = count < 0 ? parts.data.slice(0, count) : concat(parts.data, new Uint8Array(count)); },
}; // prettier-ignore

/** The length that a file says its header has. */
function lengthOf({ length }, text) {
  if (!length) return BigInt(text.length);
  return length.edge ?? BigInt(Math.max(0, text.length + length.count));
}

/** The bytes of parts. */
function bytesOf(parts) {
  const { entries, metadata, data } = parts;
  const pairs = entries.map(([name, entry]) => [name, objectText(entry)]);
  const header = objectText([['__metadata__', objectText(metadata)], ...pairs]);
  const text = new TextEncoder().encode(header);
  const length = new Uint8Array(BigUint64Array.of(lengthOf(parts, text)).buffer);
  return concat(length, text, data);
}

/** The file with these faults. */
export function spoilt(file, all) {
  const parts = textsOf(file);
  for (const fault of all) deeds[fault.kind](parts, fault);
  return bytesOf(parts);
}
