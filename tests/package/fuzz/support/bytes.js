// What is done to the bytes of a file, whatever its format.
import fc from 'fast-check';

/** Numbers that lengths, counts and offsets go wrong at. */
export const edges = [
  ...[0n, 1n, 31n, 2n ** 16n, 2n ** 31n - 1n, 2n ** 31n, 2n ** 32n - 1n, 2n ** 32n],
  ...[2n ** 40n, 2n ** 53n - 1n, 2n ** 53n, 2n ** 63n - 1n, 2n ** 63n, 2n ** 64n - 1n],
];

/** Bytes set, words of 4 or 8 bytes put to an edge, parts taken out, doubled, or cut off. */
export const changes = fc.array(
  fc.record({
    kind: fc.constantFrom(...Array(6).fill('byte'), 'word', 'word', 'word', 'out', 'twice', 'cut', 'text'),
    // Evenly, because numbers of fast-check are mostly small.
    at: fc.noBias(fc.nat(2 ** 30 - 1)).map((x) => x / 2 ** 30),
    // Most of what can go wrong is at the start.
    isEarly: fc.boolean(),
    value: fc.integer({ min: 0, max: 255 }),
    edge: fc.constantFrom(...edges),
    size: fc.constantFrom(4, 8),
    length: fc.integer({ min: 1, max: 64 }),
    text: fc.constantFrom('__proto__', 'constructor', '9e99', '-1', 'null', '[[', '"', '\u0000'),
  }),
  { minLength: 1, maxLength: 3 },
); // prettier-ignore

/** The file with one of these changes. */
export function apply(file, { kind, at: share, isEarly, value, edge, size, length, text }) {
  const span = isEarly ? Math.min(file.length, 1500) : file.length;
  const at = Math.floor(share * Math.max(span - 8, 0));
  const [before, rest] = [file.subarray(0, at), file.subarray(at)];
  const join = (...parts) => new Uint8Array(Buffer.concat(parts));
  if (kind === 'cut') return file.slice(0, at);
  if (kind === 'out') return join(before, rest.subarray(length));
  if (kind === 'twice') return join(before, rest.subarray(0, length), rest);
  if (kind === 'text') return join(before, Buffer.from(text), rest.subarray(text.length));
  const changed = file.slice();
  if (kind === 'byte' && at < changed.length) changed[at] = value;
  if (kind === 'word' && at + 8 <= changed.length) {
    const view = new DataView(changed.buffer);
    if (size === 4) view.setUint32(at, Number(BigInt.asUintN(32, edge)), true);
    else view.setBigUint64(at, edge, true);
  }
  return changed;
}

/** A description of changes, for people. */
export const textOf = (what) =>
  JSON.stringify(what, (_, value) => (typeof value === 'bigint' ? `${value}n` : value));
