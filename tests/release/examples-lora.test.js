// @run full, or after changes in examples/lora-node wasm/src/train
// @build any
// examples/lora-node with the command of its README, beside the package as packed: what it prints, and the files that it writes.
import assert from 'node:assert/strict';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { load } from 'qkv/models';
import { init } from 'qkv/train';
import { read, root } from '../support/js/files.js';
import { argumentsOf, installExamples } from './examples.js';

const [program, file] = argumentsOf('lora-node');
const rhyme =
  'Twinkle, twinkle, little star, how I wonder what you are! Up above the world so high, like a diamond in the sky. ';
const engine = await init();
const model = await load(engine, { weights: read(file) });
after(() => engine.dispose());

let installed;
before(async () => {
  installed = await installExamples();
  cpSync(join(root, file), join(installed.project, file));
});
after(() => installed?.remove());
const runs = (...args) => installed.inProject(process.execPath, program, ...args);
const written = (name) => readFileSync(join(installed.project, name));

describe('examples: lora-node', () => {
  test('learns its rhyme by adapters, which it saves alone and merged', async () => {
    const { stdout, output } = await runs(file, '--save', 'adapters', '--merged', 'merged');
    assert.equal(output, stdout);
    const lines = stdout.trimEnd().split('\n');
    // Of each of four layers the maps of queries and of values, from 128 to 8 and from 8 to 128.
    const { numLayers, dModel } = model.config;
    const adapters = (numLayers * 2 * 8 * 2 * dModel).toLocaleString('en');
    const parameters = model.parameterCount.toLocaleString('en');
    const first = `austen.safetensors: ${parameters} parameters, int8; ${adapters} in adapters`;
    assert.equal(lines[0], first);
    const [, without, withThem] = /^held-out loss: (.+), with adapters (.+)$/m.exec(stdout);
    assert.ok(without > 1.5 && withThem < 0.2, `${without}, ${withThem}`);
    const begin = rhyme.slice(0, 16);
    const greedy = await model.generate(begin, { maxTokens: 40 }).text();
    assert.deepEqual(lines.slice(-2), [
      `the model: ${begin}${greedy}`,
      `with adapters: ${rhyme.slice(0, 56)}`,
    ]);

    const ids = Array.from(model.encode(rhyme));
    const batch = { ids: ids.slice(0, -1), targets: ids.slice(1), batch: 1 };
    const fresh = engine.languageModel.from(model, { lora: { rank: 8 } });
    assert.ok(fresh.evaluate(batch).loss > 1.5, 'new adapters add nothing');
    const names = ['adapter_config.json', 'adapter_model.safetensors'];
    const files = Object.fromEntries(names.map((name) => [name, written(join('adapters', name))]));
    const trainer = engine.languageModel.from(model, { lora: { adapters: files } });
    const { loss } = trainer.evaluate(batch);
    assert.ok(loss < 0.2, `${loss}`);
    const merged = await load(engine, { weights: written('merged') });
    // int8 weights are rounded again with what was added to them.
    const again = merged.loss(ids);
    assert.ok(Math.abs(again - loss) < 0.1, `${again}, ${loss}`);
    for (const each of [fresh, trainer, merged]) each.dispose();
  });

  test('takes a text of ours, and refuses what is too short', async () => {
    writeFileSync(join(installed.project, 'text.txt'), 'The cat sat on the mat. '.repeat(8));
    const { stdout } = await runs(file, 'text.txt', '--steps', '3', '--rank', '2');
    assert.match(stdout, /^step 1: loss \d/m);
    writeFileSync(join(installed.project, 'short.txt'), 'The cat.');
    const { code, output } = await installed.attempt(process.execPath, program, file, 'short.txt');
    assert.equal(code, 1);
    assert.match(output, /expected a text of more than 64 tokens/);
  });
});
