// Right arguments, spoilt in some places: the arguments that are passed, and plain ones beside them. What a
// getter answered first is what the plain ones hold, so that a function which reads twice is found out.
import { disguise, make, mayRefuse, planted } from './values.js';
import { isMade, placesOf } from './targets.js';

/** A copy down to the leaves; arrays of numbers are copied too, and handles are made in `world`. */
function copyOf(value, world) {
  if (isMade(value)) return world.made(value.made);
  if (ArrayBuffer.isView(value)) return value.slice();
  if (Array.isArray(value)) return value.map((element) => copyOf(element, world));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, copyOf(part, world)]));
}

const parentOf = (args, path) =>
  path
    .slice(0, -1)
    .reduce((value, key) => (Object(value) === value ? value[key] : undefined), args);

/** Puts `value` at a path, if there is something there to put it into. */
function put(args, path, value) {
  if (path.length === 2 && args[path[0]] === undefined) args[path[0]] = {};
  readable(() => {
    const parent = parentOf(args, path);
    if (isObject(parent)) parent[path.at(-1)] = value;
  });
}

/** What a getter may do before it answers. */
export const deeds = ['throw', 'other', 'detach', 'shrink', 'grow', 'dispose', 'call', 'end'];

/** The buffers of the arrays below a value, as far as it lets itself be looked at. */
function buffersBelow(value, found = new Set(), seen = new Set()) {
  if (ArrayBuffer.isView(value)) found.add(bufferOf.call(value));
  else if (typeof value === 'object' && value !== null && !seen.has(value)) {
    seen.add(value);
    try {
      for (const part of Object.values(value)) buffersBelow(part, found, seen);
    } catch {
      // A proxy that throws.
    }
  }
  return found;
}
/** That of the array itself, whatever a subclass says. */
const bufferOf = Object.getOwnPropertyDescriptor(
  Object.getPrototypeOf(Uint8Array.prototype),
  'buffer',
).get;

function act(deed, { buffers, world }) {
  if (deed === 'throw') throw planted('a getter');
  if (deed === 'dispose') world.dispose();
  if (deed === 'call') world.call();
  if (deed === 'end') world.end();
  for (const buffer of buffers) {
    const own = buffer instanceof ArrayBuffer && !world.isInside(buffer);
    if (own && deed === 'detach') structuredClone(buffer, { transfer: [buffer] });
    if (own && buffer.resizable && deed === 'grow') buffer.resize(buffer.maxByteLength);
    if (own && buffer.resizable && deed === 'shrink') buffer.resize(0);
  }
}

/** A property that does something when it is first read, and may answer differently the second time. */
function trap(parent, key, deed, then, on) {
  const value = readable(() => parent[key]);
  let read = false;
  const get = () => {
    if (read) return deed === 'other' ? then : value;
    read = true;
    act(deed, on);
    return value;
  };
  try {
    Object.defineProperty(parent, key, { configurable: true, enumerable: true, get });
  } catch {
    // Frozen by an earlier fault.
  }
}

const isObject = (value) =>
  typeof value === 'object' &&
  value !== null &&
  !ArrayBuffer.isView(value) &&
  readable(() => 'dispose' in value) === false;

/**
 * { args, plain, of, plainOf, mustWork, resized, comparable } for a target and a list of faults, { place, how }, where
 * `how` is { replace }, { disguise } or { trap, then }. `mustWork` says that the arguments are right, whatever they look
 * like, `resized` that an array may be gone when it is looked at, so that shapes fit which did not, `comparable` that
 * an answer must be the one to the plain ones if these are answered.
 */
export function spoil(target, faults, world, plainWorld) {
  const places = placesOf(target);
  const args = copyOf(target.args, world);
  const plain = copyOf(target.args, plainWorld);
  const of = target.of && world.made(target.of.made);
  const plainOf = target.of && plainWorld.made(target.of.made);
  world.mark();
  plainWorld.mark();
  const at = faults.map(({ place, how }) => ({ path: places[place % places.length], how }));
  let mustWork = true;
  for (const { path, how } of at.filter((fault) => 'replace' in fault.how)) {
    mustWork = false;
    put(args, path, make(how.replace, world));
    put(plain, path, make(how.replace, plainWorld));
  }
  // From the leaves up: a disguise holds those of its parts.
  const seen = new Set();
  // What is no plain object may look like one in a disguise: an odd thing stays as it is.
  const odd = at.filter(({ how }) => how.replace?.odd).map(({ path }) => String(path));
  // An option that is unknown is refused where it is the object's own, and a disguise may inherit it.
  const unknown = at.filter(({ path, how }) => 'replace' in how && path.at(-1) === 'unknown');
  const plainly = [...odd, ...unknown.map(({ path }) => String(path.slice(0, -1)))];
  const dressed = at.filter(
    ({ path, how }) => 'disguise' in how && !plainly.includes(String(path)),
  );
  for (const { path, how } of dressed.sort((a, b) => b.path.length - a.path.length)) {
    const parent = readable(() => parentOf(args, path));
    // A second disguise would copy what it sees of the first, which may be nothing.
    if (!isObject(parent) || seen.has(String(path))) continue;
    const found = readable(() => disguise(parent[path.at(-1)], how.disguise, world));
    if (!found) continue;
    if (mayRefuse.has(found[0]) || isInherited(target, path, found[0])) mustWork = false;
    seen.add(String(path));
    put(args, path, found[1]);
  }
  const on = { buffers: buffersBelow(args), world };
  // All are looked up before the first is set, which looking would set off; and one place has one.
  const traps = new Map();
  for (const { path, how } of at.filter((fault) => 'trap' in fault.how)) {
    const parent = readable(() => parentOf(args, path));
    // A list of arguments is read by the language itself.
    if (path.length < 2 || !isObject(parent)) continue;
    mustWork = false;
    traps.set(String(path), [parent, path.at(-1), how.trap, make(how.then, world), on]);
  }
  for (const given of traps.values()) trap(...given);
  // An array in a disguise may be another length before it is looked at, and the answer is of what is there.
  const resized = [...traps.values()].some(([, , deed]) =>
    ['detach', 'shrink', 'grow'].includes(deed),
  );
  const comparable = !(resized && seen.size > 0) && !drawsSeed(target, plain);
  return { args, plain, of, plainOf, mustWork, resized, comparable };
}

/** Whether a generation draws its seed: each call then has its own, and no two answers are alike. */
const drawsSeed = ({ method, optionsAt }, plain) => {
  const option = (name) => readable(() => plain[optionsAt]?.[name]);
  const isGeneration = method === 'generate' || method === 'generateAll';
  return isGeneration && option('seed') === undefined && (option('temperature') ?? 0) !== 0;
};

/** Whether the names of an object that has any are not its own any more. */
const isInherited = ({ dictionaries = [] }, path, disguise) =>
  disguise === 'inherited' && dictionaries.includes(String(path));

/** What `look` finds, or undefined where it is not let look. */
function readable(look) {
  try {
    return look();
  } catch {
    return undefined;
  }
}
