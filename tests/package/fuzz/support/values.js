// Things that JavaScript can pass. A value is described by plain data, which fast-check shrinks and prints, and
// made from it: as it is passed, and as a plain one that must lead to the same result.
import { createContext, runInContext } from 'node:vm';
import fc from 'fast-check';

const otherRealm = createContext({});
const numbers = [
  ...[0, -0, 1, -1, 2, 3, 4, 5, 7, 8, 0.5, -0.5, 1.5, 1e-45, 1e-300, 3.5e38, 1e308, -1e308],
  ...[NaN, Infinity, -Infinity, 2 ** 16, 2 ** 20, 2 ** 20 + 1, 2 ** 30, 2 ** 31 - 1, 2 ** 31],
  ...[2 ** 32, 2 ** 32 + 1, 2 ** 53 - 1, 2 ** 53, -(2 ** 31), -(2 ** 31) - 1, -(2 ** 53)],
];
const words = [
  '',
  '1',
  'auto',
  'none',
  'tanh',
  'alibi',
  'yarn',
  'raw',
  '__proto__',
  '\u{1F600}',
  '\uD800',
];
const views = [
  ...['Float32Array', 'Float64Array', 'Int8Array', 'Uint8Array', 'Uint8ClampedArray', 'Int16Array'],
  ...['Uint16Array', 'Int32Array', 'Uint32Array', 'BigInt64Array', 'BigUint64Array'],
];
const oddities = [
  ...['bigint', 'symbol', 'function', 'class', 'date', 'map', 'set', 'promise', 'regexp', 'error'],
  ...['null prototype', 'revoked proxy', 'throwing proxy', 'wrapped number', 'wrapped text', 'generator'],
  ...['sparse array', 'huge array', 'endless array-like', 'array buffer', 'shared buffer', 'data view', 'module'],
  ...['memory', 'weak ref', 'arguments', 'array of itself', 'object of itself', 'unprintable', 'no string'],
  ...['detached', 'tagged', 'live tensor', 'dead tensor', 'foreign tensor', 'cache', 'dead cache', 'foreign cache'],
  ...['layer', 'engine', 'ndarray', 'huge ndarray', 'empty ndarray', 'wide empty ndarray', 'mask'],
]; // prettier-ignore

/** Any value at all. */
export const anything = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...numbers).map((value) => ({ number: String(value) })) },
  { weight: 2, arbitrary: fc.constantFrom(undefined, null, true, false).map((plain) => ({ plain })) },
  { weight: 1, arbitrary: fc.constantFrom(...words).map((plain) => ({ plain })) },
  { weight: 2, arbitrary: fc.record({ view: fc.constantFrom(...views), length: fc.nat(12) }) },
  { weight: 6, arbitrary: fc.constantFrom(...oddities).map((odd) => ({ odd })) },
  { weight: 1, arbitrary: fc.array(fc.constantFrom(...numbers), { maxLength: 6 }).map((list) => ({ list: list.map(String) })) },
); // prettier-ignore

const numberOf = (text) => (text === '-0' ? -0 : Number(text));

class Unprintable {
  get [Symbol.toStringTag]() {
    throw planted('toStringTag');
  }
}
const noString = () => Object.assign(Object.create(null), { length: 2 });

/** What foreign code throws. */
export const planted = (where) =>
  Object.assign(new Error(`planted in ${where}`), { planted: true });

function detached() {
  const array = new Float32Array(4);
  structuredClone(array, { transfer: [array.buffer] });
  return array;
}
function revoked() {
  const { proxy, revoke } = Proxy.revocable({ data: new Float32Array(4), shape: [4] }, {});
  revoke();
  return proxy;
}
const throwing = () =>
  new Proxy({}, Object.fromEntries(
    ['get', 'has', 'ownKeys', 'getPrototypeOf', 'getOwnPropertyDescriptor'].map((trap) => [
      trap,
      () => {
        throw planted(trap);
      },
    ]),
  )); // prettier-ignore
function tagged() {
  const bytes = new Uint8Array(8);
  Object.defineProperty(bytes, Symbol.toStringTag, { value: 'Float32Array' });
  return { data: bytes, shape: [8] };
}
function itself(value, name) {
  value[name] = value;
  return value;
}

const makers = {
  bigint: () => 3n,
  symbol: () => Symbol('s'),
  function: () => () => 3,
  class: () => class A {},
  date: () => new Date(0),
  map: () => new Map([['causal', true]]),
  set: () => new Set([1]),
  promise: () => Promise.resolve(1),
  regexp: () => /x/,
  error: () => new Error('x'),
  'null prototype': () => Object.create(null),
  'revoked proxy': revoked,
  'throwing proxy': throwing,
  'wrapped number': () => Object(3),
  'wrapped text': () => Object('x'),
  generator: () => [1].values(),
  // oxlint-disable-next-line no-sparse-arrays
  'sparse array': () => [1, , 3],
  'huge array': () => new Array(2 ** 32 - 1),
  'endless array-like': () => new Proxy({}, { get: (_, name) => (name === 'length' ? 2 ** 53 - 1 : name === Symbol.toStringTag ? undefined : 1) }),
  'array buffer': () => new ArrayBuffer(16),
  'shared buffer': () => new SharedArrayBuffer(16),
  'data view': () => new DataView(new ArrayBuffer(16)),
  module: () => new WebAssembly.Module(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0)),
  memory: () => new WebAssembly.Memory({ initial: 1 }),
  'weak ref': () => new WeakRef({}),
  arguments: (function (...list) { return () => ((...rest) => rest)(...list); })(1, 2),
  'array of itself': () => itself([1], 0),
  'object of itself': () => itself({}, 'data'),
  unprintable: () => new Unprintable(),
  'no string': noString,
  detached: () => ({ data: detached(), shape: [4] }),
  tagged,
  'live tensor': (world) => world.tensor([2, 3]),
  'dead tensor': (world) => world.dead([2, 3]),
  'foreign tensor': (world) => world.foreign([2, 3]),
  cache: (world) => world.cache(),
  'dead cache': (world) => world.deadCache(),
  'foreign cache': (world) => world.foreignCache(),
  layer: (world) => world.layer(),
  engine: (world) => world.engine,
  ndarray: () => ({ data: new Float32Array(6).fill(0.5), shape: [2, 3] }),
  'huge ndarray': () => ({ data: new Float32Array(4), shape: [2 ** 31, 2 ** 31] }),
  'empty ndarray': () => ({ data: new Float32Array(0), shape: [0, 3] }),
  'wide empty ndarray': () => ({ data: new Float32Array(0), shape: [2 ** 32 + 2, 0, 2 ** 53 - 1, 2 ** 31] }),
  mask: () => ({ data: new Uint8Array(6).fill(1), shape: [2, 3] }),
}; // prettier-ignore

/** The value that a description stands for. */
export function make(what, world) {
  if ('number' in what) return numberOf(what.number);
  if ('list' in what) return what.list.map(numberOf);
  if ('view' in what) return new globalThis[what.view](what.length);
  if ('odd' in what) return makers[what.odd](world);
  return what.plain;
}

// ------------------------------------------------------------------------------------------ disguises

const inBuffer = (buffer, array, offset = 0) => {
  const view = new array.constructor(buffer, offset, array.length);
  view.set(array);
  return view;
};
function lying(array) {
  const Base = array.constructor;
  class Liar extends Base {
    get length() { return 3; }
    get byteLength() { return 2 ** 20; }
    get byteOffset() { return 4096; }
    get buffer() { return new ArrayBuffer(8); }
    get [Symbol.toStringTag]() { return 'Float32Array'; }
    static get [Symbol.species]() { return Float64Array; }
    slice() { return new Base(1); }
    set() { throw planted('set'); }
  }
  return Liar.from(array);
} // prettier-ignore
const size = (array) => array.byteLength;

/** By name: the same elements in another form; those of `odd` may also be refused. */
const arrayDisguises = {
  'odd offset': (array) =>
    inBuffer(new ArrayBuffer(size(array) + 64), array, 12 * array.BYTES_PER_ELEMENT),
  shared: (array) => inBuffer(new SharedArrayBuffer(size(array)), array),
  resizable: (array) => inBuffer(new ArrayBuffer(size(array), { maxByteLength: 4096 }), array),
  tracking: (array) => {
    const view = new array.constructor(new ArrayBuffer(size(array), { maxByteLength: 1 << 16 }));
    view.set(array);
    return view;
  },
  subclass: (array) => class extends array.constructor {}.from(array),
  realm: (array) => {
    const Kind = runInContext(array.constructor.name, otherRealm);
    return Kind.from(array);
  },
  inside: (array, world) => world.inside(array),
  lying,
};
const listDisguises = {
  subclass: (list) => class extends Array {}.from(list),
  frozen: (list) => Object.freeze([...list]),
  realm: (list) => Object.assign(runInContext('[]', otherRealm), list),
  proxy: (list) => new Proxy(list, {}),
  'own every': (list) => Object.assign([...list], { every: () => true, slice: () => [], length: list.length }),
}; // prettier-ignore
const objectDisguises = {
  frozen: (object) => Object.freeze({ ...object }),
  'null prototype': (object) => Object.assign(Object.create(null), object),
  proxy: (object) => new Proxy(object, {}),
  getters: (object) =>
    Object.defineProperties(
      {},
      Object.fromEntries(
        Object.entries(object).map(([name, value]) => [name, { get: () => value, enumerable: true }]),
      ),
    ),
  inherited: (object) => Object.create(object),
  realm: (object) => Object.assign(runInContext('({})', otherRealm), object),
  symbols: (object) => ({ ...object, [Symbol('x')]: 1 }),
}; // prettier-ignore

export const mayRefuse = new Set(['lying', 'own every']);

function disguisesOf(value) {
  if (ArrayBuffer.isView(value)) return arrayDisguises;
  // A copy of more would be an array of that many undefined, and the end of this process.
  if (Array.isArray(value)) return value.length < 1000 ? listDisguises : {};
  return typeof value === 'object' && value !== null && !value.dispose ? objectDisguises : {};
}

/** [name, value] in the `n`th of its disguises; undefined if it has none. */
export function disguise(value, n, world) {
  const known = Object.entries(disguisesOf(value));
  if (known.length === 0) return undefined;
  const [name, dress] = known[n % known.length];
  return [name, dress(value, world)];
}
