// @run full, or after changes in examples/attention-cpp examples/generate-cpp examples/train-cpp core/include core/install
// @build any
// The C++ programs of examples/, copied out of the repository beside the C++ library as installed, and run with the commands of
// their README.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { must } from '../../tools/run.js';
import { init } from 'qkv';
import { load } from 'qkv/models';
import { gguf, ggufFile } from '../package/models/support/files.js';
import { blockFile } from '../package/models/support/block-models.js';
import { ggufModels } from '../package/models/support/gguf-models.js';
import { blockTypes } from '../support/js/blocks.js';
import { root, text } from '../support/js/files.js';
import { inFullRun } from '../support/js/full.js';
import { PATIENCE } from '../support/js/patience.js';
import { isas, replaced, Stranger } from './consumers/stranger.js';
import { commands, copyExamples, numbersIn } from './examples.js';

/** A small model as a GGUF file whose matrices have this type. */
function ggufOf(name, type = 'F32', more = [], moreTensors = {}) {
  const { metadata, ...file } = ggufModels[name]();
  const tensors = { ...file.tensors, ...moreTensors };
  const typed = Object.entries(tensors).map(([key, tensor]) => [
    key,
    { ...tensor, type: tensor.shape.length === 2 ? type : 'F32' },
  ]);
  const others = metadata.filter(([key]) => !more.some(([name]) => name === key));
  return ggufFile([...others, ...more], Object.fromEntries(typed));
}

/** The likeliest tokens after a prompt, each after those before. */
async function greedy(engine, bytes, prompt, maxTokens) {
  const model = await load(engine, { weights: bytes });
  const said = [];
  for await (const { id } of model.generate(prompt, { maxTokens })) said.push(id);
  model.dispose();
  return said;
}

/** What the frequencies of Llama 3.1 are divided by, for factor 32, low 1, high 4, 8192 tokens and base 500,000. */
const ropeFactors = {
  'rope_freqs.weight': {
    shape: [8],
    values: Array.from({ length: 8 }, (_, i) => {
      const turns = 8192 / (2 * Math.PI * 500_000 ** (i / 8));
      const kept = Math.min(1, Math.max(0, (turns - 1) / 3));
      return 1 / ((1 - kept) / 32 + kept);
    }),
  },
};

describe('examples: C++', () => {
  const here = new Stranger();
  const env = {
    CMAKE_PREFIX_PATH: here.path('installed'),
    CXXFLAGS: '-Wall -Wextra -Werror',
  };
  before(async () => {
    copyExamples(here.home);
    const line = ['--install', join(root, 'build/native'), '--prefix', env.CMAKE_PREFIX_PATH];
    await must('cmake', line, { timeout: PATIENCE.wait });
  });
  after(() => here.leave());

  const learnsReversal = (printed) => {
    const lines = printed.trimEnd().split('\n');
    assert.match(printed, /step 100: loss 0\.\d+, (99|100) % of new rows right/);
    const [row, said, ...heads] = lines.slice(-6).map((line) => numbersIn(line.slice(7)));
    assert.deepEqual(said, row.toReversed());
    const mirrored = Array.from({ length: 16 }, (_, t) => 15 - t);
    assert.ok(
      heads.some((places) => String(places) === String(mirrored)),
      printed,
    );
  };

  /** Weights of four heads over 24 tokens, and rows that are the same from one call and from many. */
  function saysWhereItLooks(printed) {
    const lines = printed.trimEnd().split('\n').slice(-5);
    for (const [head, line] of lines.slice(0, 4).entries()) {
      const [, name, token, weight] =
        /^head (\d): the last token reads token (\d+) most, (0\.\d{3})$/.exec(line) ?? [line];
      assert.equal(Number(name), head);
      assert.ok(token < 24 && weight >= 1 / 24, line);
    }
    const [first, difference] =
      /^the last row begins with (.*); one call and many differ by (.*) at most$/
        .exec(lines[4])
        .slice(1)
        .map(Number);
    assert.ok(Number.isFinite(first) && difference >= 0 && difference < 1e-5, lines[4]);
  }

  for (const [name, expected] of [
    ['train-cpp', learnsReversal],
    ['attention-cpp', saysWhereItLooks],
  ]) {
    test(`${name} finds the library as installed`, async () => {
      await expected(await here.sh(commands.get(name), { env }));
    });
  }

  describe('generate-cpp', () => {
    const program = 'build/generate-cpp/generate';

    test('says the tokens that the package says, of every type that it reads', async () => {
      const engine = await init();
      here.write('model.gguf', ggufOf('llama'));
      await here.sh(commands.get('generate-cpp'), { env });
      for (const [name, bytes] of [
        ...[undefined, 'F16', 'BF16', 'Q8_0'].map((type) => [type, ggufOf('llama', type)]),
        ...Object.keys(blockTypes).map((type) => [type, blockFile([type]).weights]),
        ['mixed', blockFile(Object.keys(blockTypes)).weights],
        ['qwen3', ggufOf('qwen3')],
      ]) {
        // prettier-ignore
        here.write('model.gguf', bytes);
        const expected = await greedy(engine, bytes, [1, 2], 6);
        const said = await here.must(program, ['model.gguf', '6', '1', '2']);
        assert.equal(said, `${expected.join(' ')}\n`, name);
      }
      engine.dispose();
    });

    test('turns pairs as Llama 3.1 does, which shows far from the beginning', async () => {
      const engine = await init();
      const [bytes, without] = [ropeFactors, {}].map((more) =>
        ggufOf('llama', 'F32', [['llama.context_length', gguf.u32(4096)]], more),
      );
      const prompt = Array.from({ length: 3000 }, (_, i) => (5 * i * i + i) % 11);
      const expected = await greedy(engine, bytes, prompt, 12);
      assert.notDeepEqual(await greedy(engine, without, prompt, 12), expected);
      here.write('model.gguf', bytes);
      const said = await here.must(program, ['model.gguf', '12', ...prompt.map(String)]);
      assert.equal(said, `${expected.join(' ')}\n`);
      engine.dispose();
    });

    test('refuses by name what it does not know', async () => {
      const whole = ggufOf('llama');
      for (const [bytes, says] of [
        [ggufOf('gemma'), "general.architecture is 'gemma', expected llama, qwen2 or qwen3"],
        [ggufOf('qwen2'), 'qwen2.rope.scaling.factor is not known to this program'],
        [
          ggufOf('llama', 'F32', [['llama.expert_count', gguf.u32(2)]]),
          'llama.expert_count is not known',
        ],
        [
          ggufOf('llama', 'F32', [], { 'rope_freqs.weight': { shape: [3], values: [1, 1, 8] } }),
          'rope_freqs.weight is not [8] of F32',
        ],
        [whole.slice(0, -40), 'reaches past the end'],
        [whole.slice(0, 200), 'ends too early'],
        [new Uint8Array(40), 'is no GGUF file'],
      ]) {
        // prettier-ignore
        here.write('model.gguf', bytes);
        const { code, output } = await here.run(program, ['model.gguf', '6', '1', '2']);
        assert.deepEqual([code, output.includes(says)], [1, true], `${output} ${says}`);
      }
    });
  });

  test('all find it in the same way', () => {
    const [trains, ...others] = ['train', 'attention', 'generate'].map((name) =>
      text(`examples/${name}-cpp/CMakeLists.txt`).replaceAll(name, 'program'),
    );
    for (const other of others) assert.equal(other.replace('qkv::qkv', 'qkv::program'), trains);
  });

  inFullRun('the C++ examples as a part of the checkout', () => {
    test('train-cpp takes the checkout where none is installed', async () => {
      const elsewhere = commands.get('train-cpp').replaceAll('build/train-cpp', 'inside');
      const narrow = `-S qkv/examples/train-cpp ${JSON.stringify(isas('sse4;scalar'))}`;
      learnsReversal(await here.sh(replaced(elsewhere, '-S examples/train-cpp', narrow)));
    });
  });
});
