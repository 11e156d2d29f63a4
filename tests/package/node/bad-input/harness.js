// Runs a table of refusals. A table is { method, says, base, call, kinds, rejects }: `base(world)` gives arguments
// that are right, by the names of the parameters; `kinds` says by path what each may not be; `call(world,
// arguments)` calls, and with `rejects` gives a promise. Every refusal must leave everything as it was: the inputs, `out`, a cache's length and
// contents, memory(), and what the right call computes.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { init } from 'qkv';
import { expectRejects, expectSame, expectThrows } from '../../../support/js/check.js';

/** Engines of an entry, and things of theirs that do not fit; all are made once for a shape. */
export async function makeWorld(load = init) {
  const engine = await load();
  const other = await load({ variant: 'simd', shared: false });
  const kept = new Map();
  const keep = (kind, make) => (of) => {
    const key = `${kind} ${JSON.stringify(of)}`;
    if (!kept.has(key)) kept.set(key, make(of));
    return kept.get(key);
  };
  const dead = (shape) => {
    const tensor = engine.tensor(shape);
    tensor.dispose();
    return tensor;
  };
  return {
    engine,
    dead: keep('dead', dead),
    tensor: keep('tensor', (shape) => engine.tensor(shape)),
    foreign: keep('foreign', (shape) => other.tensor(shape)),
    cacheOf: (of) => engine.kvCache(of),
    foreignCache: keep('cache', (of) => other.kvCache(of)),
  };
}

/** The name in messages: fields are named without the argument they are in. */
export const nameOf = (path) => path.replace(/^(options|config|weights)\./, '');

function set(args, [key, ...rest], value) {
  return { ...args, [key]: rest.length === 0 ? value : set(args[key] ?? {}, rest, value) };
}
/** A copy of `args` with another value at `path`. */
export const place = (args, path, value) => set(args, path.split('.'), value);

/** All elements below a value, for comparing before and after. */
function contents(value, found = []) {
  if (ArrayBuffer.isView(value)) found.push([...new Uint8Array(value.buffer.slice(0))]);
  else if (Array.isArray(value)) value.forEach((part) => contents(part, found));
  else if (typeof value === 'object' && value !== null) {
    Object.values(value).forEach((part) => contents(part, found));
  }
  return found;
}

/** The results of a call as one list of numbers. */
function numbers(result) {
  if (result instanceof Float32Array) return result;
  if (result?.data) return result.data;
  return Float32Array.from(Object.values(result ?? {}).flatMap((part) => [...(part.data ?? [])]));
}

const cacheState = (cache) => [cache.length, cache.keys().data, cache.values().data];

/** The arguments of a case, with what only the world can make. */
function argumentsOf(table, world, { path, c }) {
  let args = table.base(world);
  for (const [at, value] of Object.entries(c.with ?? {})) {
    args = place(args, at, typeof value === 'function' ? value(world) : value);
  }
  const value = c.value?.make ? c.value.make({ ...world, shape: c.shape }) : c.value;
  return place(args, path, value);
}

/** One refusal, twice: the second must not even have grown the memory. */
async function refuse(table, world, of) {
  const { c } = of;
  const args = argumentsOf(table, world, of);
  const given = contents(args);
  const refused = async () => {
    const call = () => table.call(world, args);
    if (table.rejects) await expectRejects(call(), table.says, c.code, ...c.says);
    else expectThrows(call, table.says, c.code, ...c.says);
  };
  await refused();
  const memory = world.engine.memory();
  await refused();
  assert.deepEqual(world.engine.memory(), memory, 'memory()');
  assert.deepEqual(contents(args), given, 'the inputs');
}

/** The same with an output tensor, which keeps what it holds, and with a cache, which does too. */
async function refuseWritten(table, world, of) {
  const { out, cache } = table.written(world);
  out.view().fill(42);
  await refuse({ ...table, base: () => place(table.base(world), 'options.out', out) }, world, of);
  assert.ok(
    out.view().every((x) => x === 42),
    'out',
  );
  if (of.path === 'options.cache' || of.c.with?.['options.cache']) return;
  const held = cacheState(cache);
  const args = place(argumentsOf(table, world, of), 'options.cache', cache);
  const call = () => table.call(world, args);
  // What a cache holds counts as keys: some messages have other numbers then, and some calls are right.
  const [said] = of.c.says;
  if (!of.c.unlessCached) expectThrows(call, table.says, of.c.code, ...(said ? [said] : []));
  assert.equal(cache.length, held[0], 'length of the cache');
  cacheState(cache)
    .slice(1)
    .forEach((data, i) => expectSame(data, held[i + 1], 'cached number'));
}

/** Tests of everything in a table. */
export function testTable(table, world) {
  describe(`${table.method} refuses`, () => {
    const right = async () => numbers(await table.call(world, table.base(world)));
    let expected;
    before(async () => {
      expected = await right();
    });
    for (const [path, kind] of Object.entries(table.kinds)) {
      test(`a wrong ${path}`, async () => {
        const cases = kind(nameOf(path));
        assert.ok(cases.length > 0);
        for (const c of cases) {
          try {
            await refuse(table, world, { path, c });
            if (table.written && path !== 'options.out' && path !== 'options') {
              await refuseWritten(table, world, { path, c });
            }
            expectSame(await right(), expected);
          } catch (error) {
            error.message = `${path}, ${c.what}: ${error.message}`;
            throw error;
          }
        }
      });
    }
  });
}
