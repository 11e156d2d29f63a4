// @build any
// Bad input to qkv/models: every argument and option field, wrong in every way its kind can be, is refused with a code and a
// sentence, and nothing changes. What there is to refuse is read off the declarations. What two arguments are to each other is
// in refusals.test.js.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { create } from 'qkv/models';
import { expectRejects, expectThrows } from '../../support/js/check.js';
import { kinds } from '../../support/js/model-kinds.js';
import { randomWeights } from '../../support/js/model-oracle.js';
import { declared } from '../node/bad-input/declarations.js';
import { makeWorld, testTable } from '../node/bad-input/harness.js';
import { modelTables } from './bad-input/tables.js';

const operators = await makeWorld();
const { engine } = operators;
after(() => engine.dispose());
const make = (config) => create(engine, config, randomWeights(config, 2));
const scoring = { ...kinds.bert, head: true, headPooling: 'first', classes: 2 };
const masking = { ...kinds.bert, head: true, tiedEmbeddings: true };
const [model, other, encoder] = [kinds.llama, kinds.llama, kinds.bert].map(make);
const [scorer, masked] = [scoring, masking].map(make);
const world = {
  ...operators,
  ...{ model, encoder, scorer, masked },
  empty: model.session(),
  small: model.session({ capacity: 4 }),
  wide: model.session({ batch: 2 }),
  otherSession: other.session(),
};
for (const table of modelTables) testTable(table, world);

/** What has its tests elsewhere, and why. */
const elsewhere = {
  cosineSimilarity: 'functions of arrays, which need no engine: similarity.test.js',
  nearest: 'likewise',
  charactersTokenizer: 'no options, and in the name of load(): tokenizers.test.js',
  huggingFaceTokenizer: 'no options, and in the name of load(): tokenizers.test.js',
  jsonTokenizer: 'tokenizer.json, in the name of load(): json-tokenizer.test.js',
  'LanguageModel.chat': 'conversations and templates: chat.test.js',
  'LanguageModel.chatPrompt': 'likewise',
  'LanguageModel.encode': 'texts and letters: chat.test.js',
  'LanguageModel.decode': 'likewise',
  modelCache: 'in its own name: model-cache.test.js',
  'LanguageModel.generateAll': 'prompts and what generate() has besides: side-by-side.test.js',
  'LanguageModel.beams': 'likewise',
  'LanguageModel.withAdapters': 'files, by what is in them: adapters.test.js',
  llama2cTokenizer: 'bytes of a file, in the name of load(): llama2c.test.js',
};

const functionsElsewhere = Object.keys(elsewhere).filter((name) => !name.includes('.'));

test('bad input: every argument and every option field that is declared stands in a table, and nothing else', () => {
  const functions = ['create', 'load', 'sample', ...functionsElsewhere];
  const methods = declared('models', functions, 'index');
  for (const name of Object.keys(elsewhere)) assert.ok(methods.delete(name), name);
  const inTables = new Map(
    modelTables.map(({ method, kinds: of }) => [method, Object.keys(of).sort()]),
  );
  assert.deepEqual([...inTables.keys()].sort(), [...methods.keys()].sort());
  for (const [method, paths] of methods) assert.deepEqual(inTables.get(method), [...paths].sort());
});

test('bad input: every method of a model that is disposed is refused by name', async () => {
  const own = make(kinds.llama);
  own.dispose();
  own.dispose();
  const mine = { model: own, encoder: own, scorer: own, masked: own };
  for (const table of modelTables.filter(({ method }) => method.startsWith('LanguageModel.'))) {
    const call = () => table.call({ ...world, ...mine }, table.base(world));
    if (table.rejects) await expectRejects(call(), table.says, 'disposed', 'the model');
    else expectThrows(call, table.says, 'disposed', 'the model');
  }
});
