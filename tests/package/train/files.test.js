// @build any
// What a trainer's file keeps besides weights, and trainers that begin with one: languageModel.fromFile(), save({ tokenizer }).
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { charactersTokenizer, create, load } from 'qkv/models';
import { init } from 'qkv/train';
import { expectSame, expectThrows } from '../../support/js/check.js';
import { kinds } from '../../support/js/model-kinds.js';
import { randomWeights } from '../../support/js/model-oracle.js';
import { partsOf } from '../../support/js/safetensors.js';
import { batchOf, config, how } from '../../support/js/trainers.js';
import { chatFiles, chatMl, imEnd, tokenizerJson } from '../models/support/chat-model.js';
import { gguf, ggufFile, safetensorsOf } from '../models/support/files.js';
import { ggufModels } from '../models/support/gguf-models.js';

const engine = await init();
after(() => engine.dispose());

const letters = Array.from('abcdefghijkl');
const modelIn = (bytes, more) => load(engine, { weights: new Blob([bytes]), ...more });
const metadataOf = (bytes) => partsOf(bytes).header.__metadata__;
/** The file with other metadata, or other headers of arrays. */
const changed = (bytes, metadata, arrays = {}) => {
  const { header, data } = partsOf(bytes);
  const whole = { ...header, ...arrays };
  return safetensorsOf({ ...whole, __metadata__: { ...header.__metadata__, ...metadata } }, data);
};

describe('languageModel.fromFile', () => {
  test('languageModel.fromFile: goes on where the trainer was, bit for bit', () => {
    for (const own of [
      config,
      { ...config, norm: 'post', positions: 'alibi', tokenTypes: 2 },
      { ...kinds.qwen3, family: 'qwen3' },
    ]) {
      // prettier-ignore
      const first = engine.languageModel(own, how);
      for (let step = 1; step <= 3; step += 1) first.step(batchOf(step));
      const file = first.save({ optimizer: true });
      const second = engine.languageModel.fromFile(file, { ...how, seed: 5 });
      assert.deepEqual(second.model.config, first.model.config);
      assert.equal(second.steps, 3);
      assert.deepEqual(second.save({ optimizer: true }), file);
      assert.equal(second.step(batchOf(4)).loss, first.step(batchOf(4)).loss);
      const weights = engine.languageModel.fromFile(file.slice(), how).save();
      assert.deepEqual(engine.languageModel.fromFile(weights).save(), weights);
    }
  });

  test('languageModel.fromFile: what is no such file is refused, and no memory is kept', async () => {
    const trainer = engine.languageModel(config, how);
    const file = trainer.save();
    const model = await modelIn(file);
    const adapters = engine.languageModel.from(model, { lora: {} }).save();
    const other = (changes) => ({
      config: JSON.stringify({ ...trainer.model.config, ...changes }),
    });
    const { handles } = engine.memory();
    const invalid = 'invalid_argument';
    for (const [bytes, code, ...says] of [
      [undefined, invalid, 'bytes is undefined'],
      [Uint8Array.of(1), invalid, 'bytes are 1'],
      [adapters, invalid, 'hold a language_model_adapters', 'languageModel.from(model, { lora })'],
      [model.save(), invalid, 'hold a saved_model', 'load() of qkv/models'],
      [
        engine.seq2seq({ kind: 'gru', vocabulary: 4, dModel: 8, maxLength: 4 }).save(),
        invalid,
        'hold a seq2seq',
      ],
      [changed(file, { kind: undefined }), invalid, 'do not say what they hold'],
      [changed(file, { config: '{' }), invalid, 'hold the config undefined'],
      [changed(file, { config: '[1]' }), invalid, 'config'],
      [
        changed(file, other({ dModel: 2 ** 20 })),
        'shape_mismatch',
        'embedding is [11,12], expected [11,1048576]',
      ],
      [changed(file, other({ numLayers: 2 ** 16 })), invalid, 'hold no layers.65535.attention.wq'],
      [changed(file, other({ maxLength: 2 ** 30 })), 'shape_mismatch', 'positions is'],
      [changed(file, other({ dFeedForward: 2 ** 30 })), 'shape_mismatch', 'feedForward.w1 is'],
      [
        changed(file, other({ numHeads: 5 })),
        'shape_mismatch',
        'attention.wq is [12,12], expected [12,20]',
      ],
      [changed(file, other({ qkNorm: true })), invalid, 'hold no layers.0.attention.qGamma'],
      [changed(file, { steps: 'x' }), invalid, "hold the steps 'x'"],
      // To its templates save() may add one.
      [changed(file, { chatTemplates: '{' }), invalid, 'hold the chatTemplates "{"', 'as JSON'],
      [changed(file, { chatTemplates: 'null' }), invalid, 'hold the chatTemplates "null"'],
      [changed(file, { chatTemplates: '[]' }), invalid, 'hold the chatTemplates "[]"'],
    ]) {
      // prettier-ignore
      expectThrows(() => engine.languageModel.fromFile(bytes, how), 'languageModel.fromFile', code, ...says); // prettier-ignore
    }
    expectThrows(() => engine.languageModel.fromFile(file, { sed: 1 }), 'languageModel.fromFile', invalid, "'seed'"); // prettier-ignore
    assert.equal(engine.memory().handles, handles + 1, 'of seq2seq');
  });
});

describe('Trainer.save: texts', () => {
  test('Trainer.save: a tokenizer of letters is in the file, and stays when it goes on', async () => {
    const trainer = engine.languageModel(config, how);
    const tokenizer = charactersTokenizer(letters);
    const saved = { type: 'characters', tokens: letters };
    assert.deepEqual(tokenizer.toJSON(), saved);
    const bytes = trainer.save({ tokenizer });
    assert.deepEqual(trainer.save({ tokenizer: saved }), bytes);
    const model = await modelIn(bytes);
    assert.deepEqual([...model.tokenizer.encode('cab')], [2, 0, 1]);
    const file = engine.languageModel.fromFile(bytes).save();
    assert.deepEqual(file, bytes);
    const again = engine.languageModel.from(model).save();
    assert.equal((await modelIn(again)).tokenizer.decode([2, 0, 1]), 'cab');
    assert.equal(metadataOf(trainer.save()).tokenizer, undefined);
    // Of adapters the model has it.
    const adapters = engine.languageModel.from(model, { lora: {} });
    assert.equal(metadataOf(adapters.save()).tokenizer, undefined);
    assert.equal((await modelIn(adapters.save({ merged: true }))).tokenizer.decode([3]), 'd');
  });

  test('Trainer.save: tokenizer.json, and a template, with which the model talks', async () => {
    const files = chatFiles(engine);
    const model = await load(engine, { ...files, weights: new Blob([files.weights]) });
    const trainer = engine.languageModel.from(model);
    // What the model's files said but for the tokenizer, which does not say what it is made of.
    const plain = await modelIn(trainer.save());
    assert.deepEqual(plain.chatTemplates.templates, { default: chatMl });
    assert.deepEqual(plain.chatTemplates.tokens, { bos_token: '<s>', eos_token: '<|im_end|>' });
    assert.match(plain.tokenizerProblem, /no tokenizer/);
    const whole = await modelIn(trainer.save({ tokenizer: tokenizerJson }));
    assert.deepEqual(whole.chatTemplates, model.chatTemplates);
    const said = [{ role: 'user', content: 'hi' }];
    assert.deepEqual(whole.chatPrompt(said), model.chatPrompt(said));
    assert.deepEqual(JSON.parse(metadataOf(trainer.save()).endTokens), [imEnd]);
    const other = trainer.save({ tokenizer: tokenizerJson, chatTemplate: '{{ bos_token }}!' });
    assert.equal((await modelIn(other)).chatPrompt(said).text, '<s>!');
    const fresh = engine.languageModel(config, how).save({ chatTemplate: '{{ 1 }}' });
    assert.deepEqual((await modelIn(fresh)).chatTemplates.templates, { default: '{{ 1 }}' });
  });

  test('Trainer.save: the tokenizer of a GGUF file, by what that says of it', async () => {
    const list = (values, kind) => gguf.list(values.map(gguf[kind]));
    const tokens = ['<unk>', '<s>', '</s>', '\u2581', 'a', 'b', '\u2581a', 'ab', '\u2581ab', 'ä', '<0x0A>']; // prettier-ignore
    const { metadata, tensors } = ggufModels.llama();
    const bytes = ggufFile(
      [
        ...metadata,
        ['tokenizer.ggml.model', gguf.text('llama')],
        ['tokenizer.ggml.tokens', list(tokens, 'text')],
        [
          'tokenizer.ggml.scores',
          list(
            tokens.map((_, i) => -i / 4),
            'f32',
          ),
        ],
        ['tokenizer.ggml.token_type', list([2, 3, 3, 1, 1, 1, 1, 1, 1, 1, 6], 'i32')],
        ['tokenizer.ggml.bos_token_id', gguf.u32(1)],
        ['tokenizer.ggml.eos_token_id', gguf.u32(2)],
        ['tokenizer.chat_template', gguf.text('{{ bos_token }}')],
      ],
      tensors,
    );
    const model = await modelIn(bytes);
    const trainer = engine.languageModel.from(model);
    for (const file of [trainer.save(), model.save()]) {
      const again = await modelIn(file);
      for (const text of ['ab a', 'ää b\n', '</s>a']) {
        const ids = model.encode(text);
        assert.deepEqual(again.encode(text), ids);
        assert.deepEqual(again.encode(text, { plain: true }), model.encode(text, { plain: true }));
        assert.equal(again.decode(ids), model.decode(ids));
      }
      assert.deepEqual(again.chatTemplates, model.chatTemplates);
      assert.equal(again.config.family, 'llama');
      expectSame(again.forward([1, 4]).logits.data, (await modelIn(file)).forward([1, 4]).logits.data); // prettier-ignore
    }
  });

  test('Trainer.save: what is no tokenizer of a file, and no template, is refused', () => {
    const trainer = engine.languageModel(config, how);
    const own = { encode: () => [], decode: () => '' };
    for (const [options, ...says] of [
      [{ tokenizer: own }, 'tokenizer is Object, expected one that says what it is made of'],
      [{ tokenizer: { ...own, toJSON: () => ({ type: 'mine' }) } }, 'tokenizer is Object'],
      [
        {
          tokenizer: {
            ...own,
            toJSON: () => {
              throw new Error('no');
            },
          },
        },
        'tokenizer',
        'no',
      ],
      [{ tokenizer: null }, 'tokenizer is null'],
      [{ tokenizer: 'abc' }, 'tokenizer is "abc"'],
      [{ tokenizer: { type: 'words', tokens: [] } }, 'tokenizer is Object'],
      [{ chatTemplate: 3 }, 'chatTemplate is 3, expected the text of a template'],
      [{ tokeniser: own }, "'tokenizer'"],
    ]) {
      // prettier-ignore
      expectThrows(() => trainer.save(options), 'Trainer.save', 'invalid_argument', ...says);
    }
  });

  test('load: what a stranger wrote for texts is refused by its name', async () => {
    const bytes = engine.languageModel(config, how).save();
    for (const [metadata, ...says] of [
      [{ tokenizer: '{"type":"tokenizer.json"}' }, 'tokenizer is'],
      [{ tokenizer: '{"type":"characters"}' }, 'characters are undefined'],
      [{ chatTemplates: '3' }, 'chatTemplates is 3'],
      [{ chatTemplates: '{"templates":{"default":3}}' }, 'chatTemplates.templates.default is 3'],
    ]) {
      await assert.rejects(modelIn(changed(bytes, metadata)), (error) => {
        assert.equal(error.code, 'invalid_argument');
        for (const text of says) assert.ok(error.message.includes(text), error.message);
        return true;
      });
    }
    const found = await modelIn(changed(bytes, { tokenizer: '{"type":"gguf","metadata":3}' }));
    assert.match(found.tokenizerProblem, /no tokenizer/);
  });

  test('Trainer.load: the family of a file is no matter', async () => {
    const own = { ...kinds.llama, family: 'llama' };
    const model = create(engine, own, randomWeights(own, 5));
    const trainer = engine.languageModel.from(model);
    const file = trainer.save();
    assert.equal((await modelIn(file)).config.family, 'llama');
    const plain = engine.languageModel(kinds.llama);
    plain.load(file);
    assert.equal(JSON.parse(metadataOf(plain.save()).config).family, undefined);
    trainer.load(plain.save());
    assert.deepEqual(trainer.save(), file);
    const other = engine.languageModel({ ...kinds.llama, epsilon: 1e-3 });
    expectThrows(() => other.load(file), 'Trainer.load', 'invalid_argument', 'epsilon 0.000001');
  });
});
