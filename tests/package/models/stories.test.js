// @build each
// A model that somebody else trained: stories260K of llama2.c says the text that its author prints.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { init } from 'qkv';
import { llama2cTokenizer, load } from 'qkv/models';
import { extraFolder } from '../../support/js/files.js';
import { sizeIn } from '../../support/js/model-kinds.js';

/** It is not ours to ship (MIT, karpathy/tinyllamas). */
const place = extraFolder('QKV_MODELS', 'models');
const isThere = existsSync(join(place, 'stories260K.bin'));
const said =
  'Once upon a time, there was a little girl named Lily. She loved to play outside in the park. One day, she ' +
  'saw a big, red ball. She wanted to play with it, but it was too high.\n' +
  "Lily's mom said, \"Lily, let's go to the park.\" Lily was sad and didn't know what to do.";

const message = `SKIPPED: no stories260K.bin at ${place}; name its folder in QKV_MODELS`;
if (!isThere) console.error(message);
const options = { skip: isThere ? false : message };
const engine = await init({ deterministic: true });
after(() => engine.dispose());
const open = (format) =>
  load(
    engine,
    {
      weights: join(place, 'stories260K.bin'),
      tokenizer: llama2cTokenizer(readFileSync(join(place, 'tok512.bin'))),
    },
    { format },
  );

test('stories260K: it says what its author prints', options, async () => {
  const model = await open('f32');
  let text = '';
  for await (const token of model.generate([1], { maxTokens: 130 })) text += token.text;
  assert.ok(text.startsWith(said), text);
  // The beginning of the text as a prompt gives the rest of it.
  const [begin, rest] = [said.slice(0, 60), said.slice(60)];
  let more = '';
  for await (const token of model.generate(begin, { maxTokens: 110 })) more += token.text;
  assert.ok(more.startsWith(rest), more);
  model.dispose();
});

/** How far logits may be off, in parts of the largest, and the loss in nats: measured, and doubled. */
const distances = { bf16: [0.02, 0.01], int8: [0.1, 0.05] };
test('stories260K: smaller formats say nearly the same', options, async (t) => {
  const whole = await open('f32');
  const ids = whole.tokenizer.encode(said);
  const expected = whole.forward(ids).logits.data;
  const loss = whole.loss(ids);
  assert.ok(loss < 1.5, `${loss}`);
  for (const [format, [ofLogits, ofLoss]] of Object.entries(distances)) {
    const model = await open(format);
    const actual = model.forward(ids).logits.data;
    const off = sizeIn(actual.map((x, i) => x - expected[i])) / sizeIn(expected);
    const more = Math.abs(model.loss(ids) - loss);
    t.diagnostic(
      `${format}: logits ${off.toFixed(4)}, loss ${more.toFixed(4)} of ${loss.toFixed(3)}`,
    );
    assert.ok(off > 0 && off < ofLogits, `${format}: logits are off by ${off}`);
    assert.ok(more < ofLoss, `${format}: the loss is off by ${more}`);
    model.dispose();
  }
  whole.dispose();
});
