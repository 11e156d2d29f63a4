// Files of the bench of language models: tensors have the types that llama-quantize gives them, tokens are characters, and every
// ratio of a report is there.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { typeOf } from '../../bench/models/mixes.js';
import { ratiosOf } from '../../bench/models/report.js';
import {
  FIRST_CHARACTER,
  characterOf,
  formats,
  idOf,
  matricesOf,
  shapes,
  tensorsOf,
} from '../../bench/models/shapes.js';

/** The types of the tensors of a shape whose name has this part, by layer. */
const typesOf = (shape, format, part) =>
  Object.entries(tensorsOf(shapes[shape]))
    .filter(([name]) => name.includes(part))
    .map(([name, extents]) => typeOf(format, { name, shape: extents }, shapes[shape]));

describe('model files: the types of tensors', () => {
  test('Q4_K_M has 6 bits for the output, and for attn_v and ffn_down of the layers that matter more', () => {
    assert.deepEqual(typesOf('110M', 'Q4_K_M', 'token_embd'), ['Q6_K']);
    // Of 12 layers: the first, those of each third, and the last two.
    const more = new Set([0, 3, 6, 9, 10, 11]);
    const expected = Array.from({ length: 12 }, (_, l) => (more.has(l) ? 'Q6_K' : 'Q4_K'));
    assert.deepEqual(typesOf('110M', 'Q4_K_M', 'attn_v.weight'), expected);
    assert.deepEqual(typesOf('110M', 'Q4_K_M', 'ffn_down'), expected);
    for (const part of ['attn_q.weight', 'attn_k.weight', 'attn_output', 'ffn_gate', 'ffn_up'])
      assert.deepEqual(new Set(typesOf('110M', 'Q4_K_M', part)), new Set(['Q4_K']));
  });

  test('rows of 896 have no whole blocks of 256: they are Q5_0 in place of Q4_K, and Q8_0 in place of Q6_K', () => {
    const of = (part) => [...new Set(typesOf('Qwen2.5-0.5B', 'Q4_K_M', part))].sort();
    assert.deepEqual(of('token_embd'), ['Q8_0']);
    assert.deepEqual(of('attn_v.weight'), ['Q5_0', 'Q8_0']);
    assert.deepEqual(of('ffn_gate'), ['Q5_0']);
    assert.deepEqual(of('ffn_down'), ['Q4_K', 'Q6_K']);
    assert.deepEqual(of('attn_q.bias'), ['F32']);
  });

  test('the other formats are the same for all matrices, but for the output of Q4_0', () => {
    for (const format of ['F32', 'F16', 'Q8_0'])
      assert.deepEqual(new Set(typesOf('110M', format, 'weight')), new Set(['F32', format]));
    assert.deepEqual(typesOf('110M', 'Q4_0', 'token_embd'), ['Q6_K']);
    assert.deepEqual(new Set(typesOf('110M', 'Q4_0', 'ffn')), new Set(['F32', 'Q4_0']));
  });
});

test('model files: the shapes have as many parameters as the models they are named after', () => {
  const millions = (shape) => Math.round(matricesOf(shapes[shape]) / 1e6);
  assert.deepEqual(
    ['15M', '110M', 'Qwen2.5-0.5B', 'Llama-3.2-1B'].map(millions),
    [15, 110, 494, 1236],
  );
  for (const { formats: own } of Object.values(shapes))
    assert.ok(own.every((format) => formats.includes(format)));
});

test('model files: each token of every vocabulary is a character of its own', () => {
  const most = Math.max(...Object.values(shapes).map(({ vocabulary }) => vocabulary));
  const seen = new Set();
  for (let id = FIRST_CHARACTER; id < most; id += 1) {
    const character = characterOf(id);
    assert.equal([...character].length, 1);
    assert.equal(character.normalize('NFKC'), character);
    assert.equal(idOf(character), id);
    seen.add(character);
  }
  assert.equal(seen.size, most - FIRST_CHARACTER);
  assert.throws(() => idOf('a'), RangeError);
});

describe('model reports: ratios', () => {
  const contestants = {
    'qkv relaxed 1 thread': { host: 'browser', threads: 1 },
    'wllama 1 thread': { host: 'browser', threads: 1 },
    'ort-web 1 thread': { host: 'browser', threads: 1 },
    'wllama 2 threads': { host: 'browser', threads: 2 },
    'llama.cpp 1 thread': { host: 'node', threads: 1 },
  };
  const times = (...rounds) => {
    const [, median] = [...rounds].sort((a, b) => a - b);
    const one = { median, fastest: Math.min(...rounds), rounds };
    return { prompt: one, 'decode 16': one };
  };
  const results = [
    {
      ...{ shape: '110M', format: 'Q8_0' },
      times: {
        'qkv relaxed 1 thread': times(10, 11, 12),
        'wllama 1 thread': times(40, 44, 48),
        'ort-web 1 thread': times(30, 33, 36),
        'wllama 2 threads': times(1, 1, 1),
        'llama.cpp 1 thread': times(1, 1, 1),
      },
    },
    {
      ...{ shape: '110M', format: 'F32' },
      times: {
        'qkv relaxed 1 thread': times(30, 30, 30),
        'wllama 1 thread': times(20, 20, 20),
      },
    },
  ];

  test('each file and each thing that was timed has one, also where ours is slower', () => {
    const all = ratiosOf(results, contestants);
    const rows = all.map(({ format, what, same }) => [format, what, same.name, same.ratio]);
    assert.deepEqual(rows, [
      ['Q8_0', 'prompt', 'ort-web 1 thread', 3],
      ['Q8_0', 'decode 16', 'ort-web 1 thread', 3],
      ['F32', 'prompt', 'wllama 1 thread', 20 / 30],
      ['F32', 'decode 16', 'wllama 1 thread', 20 / 30],
    ]);
  });

  test('beside the fastest of any format, of the same host and with as many threads', () => {
    const [first] = ratiosOf(results, contestants);
    assert.deepEqual(
      [first.any.name, first.any.format, first.any.ratio, first.any.paired],
      ['wllama 1 thread', 'F32', 20 / 11, false],
    );
    assert.equal(first.same.paired, true);
  });

  test('of one with fewer rounds over those that both had; of what was not timed none', () => {
    const [{ times: all, ...file }] = results;
    const ort = { 'ort-web 1 thread': { prompt: { median: 30, fastest: 30, rounds: [30] } } };
    const ours = { 'qkv relaxed 1 thread': all['qkv relaxed 1 thread'] };
    const [prompt, decode, ...more] = ratiosOf(
      [{ ...file, times: { ...ours, ...ort } }],
      contestants,
    );
    assert.deepEqual([prompt.same.ratio, prompt.same.interval], [3, [3, 3]]);
    assert.equal(decode.same, undefined);
    assert.deepEqual(more, []);
    const shorter = { 'qkv relaxed 1 thread': { prompt: all['qkv relaxed 1 thread'].prompt } };
    assert.equal(ratiosOf([{ ...file, times: shorter }], contestants).length, 1);
  });
});
