// One job, inside the page or the process that measures: loads the contestants, compares what they
// compute and only then times them.
import { caseNamed, inputsOf } from './cases.js';
import { compare } from './measure.js';
import { jax } from './peers/jax.js';
import { native } from './peers/native.js';
import { onnxruntime, reason } from './peers/onnxruntime.js';
import { plain } from './peers/plain.js';
import { qkv } from './peers/qkv.js';
import { tfjs } from './peers/tfjs.js';
import { torch } from './peers/torch.js';

const adapters = {
  'qkv relaxed': () => qkv('relaxed'),
  'qkv simd': () => qkv('simd'),
  'qkv relaxed 2 threads': () => qkv('relaxed', { threads: 2 }),
  'qkv simd 2 threads': () => qkv('simd', { threads: 2 }),
  'other relaxed': () => qkv('relaxed', { dist: 'build/bench/other' }),
  'other simd': () => qkv('simd', { dist: 'build/bench/other' }),
  'qkv native': () => native(),
  'qkv native 2 threads': () => native(2),
  'ort-web 1 thread': () => onnxruntime('web', 1),
  'ort-web 2 threads': () => onnxruntime('web', 2),
  'ort-node 1 thread': () => onnxruntime('node', 1),
  'ort-node 2 threads': () => onnxruntime('node', 2),
  'pytorch 1 thread': torch,
  'tfjs-wasm': tfjs,
  'jax-js all threads': jax,
  plain,
};

/** Milliseconds of a call when it is warm, over so many calls that collecting their garbage counts. */
const quickly = async ({ run }) => (await compare({ run }, { rounds: 1, sample: 100 })).run.median;

/** Of the ways a contestant has to do it, the fastest; `lost` of it says which others failed, and why. */
async function fastest(ways) {
  let best;
  const lost = [];
  for (const way of ways) {
    try {
      if (way.error) throw way.error;
      // The only way is called when outputs are compared.
      const time = ways.length > 1 ? await quickly(way) : 0;
      if (!best || time < best.time) {
        await best?.way.close?.();
        best = { way, time };
      } else {
        await way.close?.();
      }
    } catch (error) {
      lost.push(`${way.way}: ${reason(error)}`);
    }
  }
  if (!best && lost.length > 0) throw new Error(lost.join('; '));
  return best ? [Object.assign(best.way, { lost })] : [];
}

/** Everything that takes part, { name: way }, and { name: reason } for what cannot. */
async function assemble(entry, names) {
  const inputs = inputsOf(entry);
  const ready = {};
  const failed = {};
  const roofs = {};
  for (const name of names) {
    try {
      const contestant = adapters[name]();
      await contestant.load(entry);
      const ways = await contestant.prepare(entry, inputs);
      const each = entry.each || contestant.each;
      const chosen = each ? ways : await fastest(ways);
      for (const way of chosen) ready[each ? `${name}: ${way.way}` : name] = way;
      if (contestant.peak) roofs[name] = await contestant.peak();
    } catch (error) {
      failed[name] = reason(error);
    }
  }
  return { ready, failed, roofs };
}

/** Calls everybody once, { name, data } of those with an output; who fails moves to `failed`. */
async function firstOutputs(ready, failed) {
  const outputs = [];
  for (const [name, way] of Object.entries(ready)) {
    try {
      await way.run();
      if (way.output) outputs.push({ name, data: await way.output() });
    } catch (error) {
      failed[name] = reason(error);
      delete ready[name];
    }
  }
  return outputs;
}

/**
 * The largest distance between any two outputs of the same element, relative to the largest element.
 * Throws if it exceeds the case's tolerance, or if an output is not a number.
 */
function agreement(entry, outputs) {
  if (outputs.length < 2) return { outputs: outputs.length };
  const [first] = outputs;
  let scale = 0;
  for (const x of first.data) scale = Math.max(scale, Math.abs(x));
  let spread = 0;
  for (const { name, data } of outputs) {
    if (data.length !== first.data.length) {
      throw new Error(`${name} gives ${data.length} numbers, ${first.name} ${first.data.length}`);
    }
  }
  for (let i = 0; i < first.data.length; i += 1) {
    let low = first.data[i];
    let high = low;
    for (const { name, data } of outputs) {
      if (!Number.isFinite(data[i])) throw new Error(`${name} gives ${data[i]} at ${i}`);
      low = Math.min(low, data[i]);
      high = Math.max(high, data[i]);
    }
    spread = Math.max(spread, high - low);
  }
  const relative = spread / scale;
  if (!(relative <= entry.tolerance)) {
    throw new Error(
      `${entry.name}: ${outputs.map(({ name }) => name).join(', ')} differ by ` +
        `${relative.toExponential(1)} of the largest element, allowed ${entry.tolerance}`,
    );
  }
  return { outputs: outputs.length, spread: relative };
}

/**
 * Times a case: { times: { contestant: summary with way and note }, failed, agreement }. `copies` is the share of a time that goes
 * into copies of inputs and outputs, where a contestant cannot do without them.
 */
export async function runCase({ name, contestants, rounds, sample }) {
  const entry = caseNamed(name);
  const { ready, failed, roofs } = await assemble(entry, contestants);
  const agreed = agreement(entry, await firstOutputs(ready, failed));
  const runs = Object.fromEntries(
    Object.entries(ready).map(([key, way]) => [key, way.sample ? way : way.run]),
  );
  for (const [key, { run }] of Object.entries(roofs)) runs[`peak of ${key}`] = run;
  const timed = await compare(runs, { rounds: Math.min(rounds, entry.rounds ?? rounds), sample });
  const times = {};
  for (const [key, way] of Object.entries(ready)) {
    const { way: how, lost = [], flops } = way;
    times[key] = { ...timed[key], way: how, note: way.note?.() ?? '', lost };
    if (flops) times[key].flops = flops;
    if (way.copies) times[key].copies = (await way.copies()) / timed[key].median;
  }
  const peaks = Object.fromEntries(
    Object.entries(roofs).map(([key, { flops }]) => [
      key,
      flops / timed[`peak of ${key}`].fastest / 1e6,
    ]),
  );
  return { times, failed, agreement: agreed, peaks };
}

/** Milliseconds from nothing to the first result: import, compile, one small attention. */
export async function coldStart({ contestant }) {
  const { heads, tokens, width } = caseNamed('sdpa smallest H1 T16 d64');
  const inputs = inputsOf({ op: 'attention', heads, tokens, width });
  const { first } = adapters[contestant]();
  const start = performance.now();
  const output = await first(inputs);
  return { ms: performance.now() - start, output: [...output.slice(0, 8)] };
}
