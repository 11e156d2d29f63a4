// @build any
// The models of models/ in qkv/train: their files are those of Trainer.save, and they say what they were trained to say.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { init } from 'qkv/train';
import { read, text } from '../../support/js/files.js';
import { partsOf } from '../../support/js/safetensors.js';

const engine = await init({ variant: 'simd' });
after(() => engine.dispose());

const cardOf = (name) => JSON.parse(text(`models/${name}/card.json`));

/** A trainer with a committed model, and what reads and writes its tokens. */
function open(name, variantName) {
  const { config, file } = cardOf(name).models[variantName];
  const bytes = read(`models/${name}/${file.name}`);
  const trainer = config.kind ? engine.seq2seq(config) : engine.languageModel(config);
  trainer.load(new Uint8Array(bytes));
  const { tokens } = JSON.parse(partsOf(bytes).header.__metadata__.tokenizer);
  const encode = (characters) => Int32Array.from(characters, (token) => tokens.indexOf(token));
  return { trainer, tokens, encode, model: trainer.model };
}

test('models/austen: it finds its own language likely, and the same letters in another order not', () => {
  const { trainer, model, encode } = open('austen', 'austen');
  const sentence = '\nShe was not the less pleased with him for being so very much in love.';
  const turned = `\n${[...sentence.slice(1)].reverse().join('')}`;
  const [loss, other] = [sentence, turned].map((said) => model.loss(encode(said)));
  assert.ok(loss < 1.5 && other > 2 * loss, `${loss}, ${other}`);
  trainer.dispose();
});

test('models/tang: after five characters and after seven it puts a mark', () => {
  const { trainer, model, tokens, encode } = open('tang', 'tang');
  for (const [start, mark] of [['\n白日依山尽，黄河入海流', '。'], ['\n月落乌啼霜满天，江枫渔火对愁眠', '。'], ['\n月落乌啼霜满天', '，']]) {
    const ids = encode(start);
    const { logits } = model.forward(ids);
    const last = logits.data.subarray(-tokens.length);
    assert.equal(tokens[last.indexOf(Math.max(...last))], mark, start);
  }
  trainer.dispose();
}); // prettier-ignore

for (const variantName of ['gru', 'gru_attention', 'transformer']) {
  test(`models/phones: ${variantName} says words`, () => {
    const { trainer, model, tokens, encode } = open('phones', variantName);
    const how = { start: 0, end: 1, maxLength: 21 };
    for (const [word, phones] of [
      ['cat', 'K AE T'],
      ['printing', 'P R IH N T IH NG'],
    ]) {
      const { ids } = model.translate(encode(word), how);
      assert.equal(Array.from(ids[0], (id) => tokens[id]).join(' '), phones, word);
    }
    trainer.dispose();
  });
}
