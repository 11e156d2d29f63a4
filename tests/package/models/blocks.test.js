// @build each
// Quantised files: each type of blocks is the numbers of its formula, 4 bits stay 4 bits, and what is saved is read back.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { init } from 'qkv';
import { charactersTokenizer, create, load } from 'qkv/models';
import { blockTypes, numberOf } from '../../support/js/blocks.js';
import { expectRejects, expectSame } from '../../support/js/check.js';
import { initAsTold, root } from '../../support/js/files.js';
import { fromFloat16 } from '../../support/js/half.js';
import { blockFile } from './support/block-models.js';
import { safetensorsOf } from './support/files.js';

const engine = await initAsTold(init);
after(() => engine.dispose());

const ids = [1, 4, 0, 6, 2];
const logitsOf = (model) => model.forward(ids).logits.data;
const four = ['Q4_0', 'Q4_1', 'Q4_K'];
/** Those whose codes and scales fit a block of 8 bits. */
const exactInBytes = ['Q8_0', 'Q5_0', 'IQ4_NL'];
/** How a file of this type is kept. */
const keptAs = (type) => {
  if (type === 'Q4_K') return 'q4_k';
  return four.includes(type) ? 'int4' : 'int8';
};

/** { header, bytesOf } of a safetensors file. */
function partsOf(file) {
  const length = Number(new DataView(file.buffer, file.byteOffset).getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(file.subarray(8, 8 + length)));
  const bytesOf = (name) =>
    file.subarray(...header[name].data_offsets.map((at) => 8 + length + at));
  return { header, bytesOf };
}

describe('load: GGUF', () => {
  for (const type of Object.keys(blockTypes)) {
    const { weights, arrays } = blockFile([type]);
    test(`the numbers of ${type} are those of its formula, bit for bit`, async () => {
      const model = await load(engine, { weights }, { format: 'f32' });
      const made = create(engine, model.config, arrays);
      expectSame(logitsOf(model), logitsOf(made), 'logit');
      for (const one of [model, made]) one.dispose();
    });

    test(`${type} is kept as ${keptAs(type)}`, async () => {
      const model = await load(engine, { weights });
      const format = keptAs(type);
      assert.equal(model.format, format);
      const whole = create(engine, model.config, arrays);
      const perNumber = model.bytes / (whole.bytes / 4);
      assert.ok(perNumber < (format === 'int8' ? 1.2 : 0.75), `${perNumber} bytes`);
      if (format === 'int8' && !exactInBytes.includes(type)) {
        const made = create(engine, model.config, arrays, { format });
        expectSame(logitsOf(model), logitsOf(made), 'logit');
        made.dispose();
      }
      for (const one of [model, whole]) one.dispose();
    });
  }

  test('numbers whose codes and scales fit a block of 8 bits are kept exactly', async () => {
    for (const type of exactInBytes) {
      const { weights, stored } = blockFile([type]);
      const model = await load(engine, { weights });
      const { bytesOf } = partsOf(model.save());
      for (const [name, { bytes }] of Object.entries(stored)) {
        const kept = bytesOf(name);
        for (let i = 0; i < (kept.length / 34) * 32; i += 1) {
          assert.equal(
            numberOf('Q8_0', kept, i),
            numberOf(type, bytes, i),
            `${name}[${i}] of ${type}`,
          );
        }
      }
      model.dispose();
    }
  });

  test('4 bits are kept as they are; as int4 the scales of Q4_K are rounded', async () => {
    for (const type of four) {
      const { weights, stored } = blockFile([type]);
      const model = await load(engine, { weights }, { format: 'int4' });
      const { bytesOf } = partsOf(model.save());
      for (const [name, { bytes }] of Object.entries(stored)) {
        // No row has padding, so that all blocks can be counted from the first on.
        const kept = bytesOf(name);
        const view = new DataView(kept.buffer, kept.byteOffset);
        for (let i = 0; i < (kept.length / 20) * 32; i += 1) {
          const half = (at) => Math.abs(fromFloat16(view.getUint16(20 * (i >> 5) + at, true)));
          const bound = type === 'Q4_K' ? 2 ** -11 * (15 * half(0) + half(2)) + 2 ** -21 : 0;
          const error = Math.abs(numberOf('Q4_1', kept, i) - numberOf(type, bytes, i));
          assert.ok(error <= bound, `${name}[${i}] of ${type} is off by ${error}: above ${bound}`);
        }
      }
      model.dispose();
    }
  });

  test('of Q4_K every byte is kept', async () => {
    const { weights, stored } = blockFile(['Q4_K']);
    const model = await load(engine, { weights });
    const { header, bytesOf } = partsOf(model.save());
    const types = JSON.parse(header.__metadata__.blocks);
    for (const [name, { bytes }] of Object.entries(stored)) {
      assert.equal(types[name][0], 'Q4_K');
      assert.deepEqual(Buffer.from(bytesOf(name)), Buffer.from(bytes), name);
    }
    model.dispose();
  });

  test('products with 4 bits are those with the same numbers in float32, but for the rounding of inputs', async (t) => {
    for (const type of four) {
      const { weights, arrays } = blockFile([type]);
      const model = await load(engine, { weights });
      const made = create(engine, model.config, arrays);
      const [actual, expected] = [model, made].map(logitsOf);
      const size = Math.max(...expected.map(Math.abs));
      const off = Math.max(...actual.map((x, i) => Math.abs(x - expected[i]))) / size;
      t.diagnostic(`${type}: ${off.toExponential(1)} of the largest logit`);
      assert.ok(off > 0 && off < 0.032, `${type}: ${off}`); // twice what was measured
      for (const one of [model, made]) one.dispose();
    }
  });

  test('of a file with several types each matrix keeps its own', async () => {
    const { weights, arrays } = blockFile(['Q4_K', 'Q6_K', 'Q5_1', 'Q4_0']);
    const model = await load(engine, { weights });
    const { blocks } = partsOf(model.save()).header.__metadata__;
    const types = Object.fromEntries(
      Object.entries(JSON.parse(blocks)).map(([name, [type]]) => [name, type]),
    );
    assert.equal(types.embedding, 'Q4_K');
    assert.equal(types['layers.0.attention.wq'], 'Q8_0');
    assert.equal(types['layers.0.attention.wk'], 'Q8_0');
    assert.equal(types['layers.0.attention.wv'], 'Q4_1');
    // One format for all, where it is asked for.
    const all = await load(engine, { weights }, { format: 'int8' });
    const made = create(engine, model.config, arrays, { format: 'int8' });
    expectSame(logitsOf(all), logitsOf(made), 'logit');
    for (const one of [model, all, made]) one.dispose();
  });
});

describe('LanguageModel.save', () => {
  const { weights, arrays } = blockFile(['Q4_K', 'Q6_K', 'Q8_0', 'Q4_1']);
  test('load: what was saved is the same model, in every format', async () => {
    for (const format of [undefined, 'f32', 'f16', 'bf16', 'int8', 'int4']) {
      const model = await load(engine, { weights }, { format });
      const file = model.save();
      const again = await load(engine, { weights: file });
      assert.deepEqual([again.format, again.bytes], [model.format, model.bytes]);
      assert.deepEqual(again.config, model.config);
      expectSame(logitsOf(again), logitsOf(model), 'logit');
      assert.deepEqual(again.save(), file);
      for (const one of [model, again]) one.dispose();
    }
  });

  test('the tokenizer of characters and the tokens that end a text are saved with it', async () => {
    const tokenizer = charactersTokenizer([...'abcdefg']);
    const { config } = await load(engine, { weights });
    const model = create(engine, config, arrays, { tokenizer });
    const again = await load(engine, { weights: model.save() });
    assert.deepEqual([...again.tokenizer.encode('bad')], [1, 0, 3]);
    for (const one of [model, again]) one.dispose();
  });

  test('the tokenizer of pieces is saved with it', async () => {
    const names = await load(engine, {
      weights: readFileSync(join(root, 'models/names/names.safetensors')),
    });
    const again = await load(engine, { weights: names.save() });
    const text = 'Mary gave a book to John';
    assert.deepEqual(again.tokenizer.encode(text), names.tokenizer.encode(text));
    for (const one of [names, again]) one.dispose();
  });

  test('load: a saved file that says of its blocks what is not so is refused', async () => {
    const model = await load(engine, { weights });
    const file = model.save();
    model.dispose();
    const { header } = partsOf(file);
    const data = file.subarray(8 + Number(new DataView(file.buffer).getBigUint64(0, true)));
    const other = (blocks) => {
      const metadata = { ...header.__metadata__, blocks };
      return safetensorsOf({ ...header, __metadata__: metadata }, data);
    };
    const own = JSON.parse(header.__metadata__.blocks);
    const says = 'a type of blocks and the width of rows that are U8';
    for (const [blocks, ...words] of [
      ['{', 'the metadata has undefined as blocks', 'an object'],
      ['[]', 'as blocks', 'an object'],
      [JSON.stringify({ ...own, nobody: ['Q4_1', 32] }), '"nobody"', says],
      [JSON.stringify({ ...own, 'norm.gamma': ['Q4_1', 32] }), '"norm.gamma"', says],
      ...[['Q4_1', 255.5], ['Q4_1', 512], ['Q4_1', 0], ['F32', 40], ['Q9', 256], 'Q4_1', null].map(
        (value) => [JSON.stringify({ ...own, embedding: value }), '"embedding"', says],
      ),
    ]) {
      await expectRejects(
        load(engine, { weights: other(blocks) }),
        'load',
        'invalid_argument',
        ...words,
      );
    }
    const { embedding, ...rest } = own;
    assert.ok(embedding);
    await expectRejects(
      load(engine, { weights: other(JSON.stringify(rest)) }),
      'load',
      'invalid_argument',
      '"embedding" is [7,',
    );
  });
});
