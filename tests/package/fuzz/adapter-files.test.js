// @build any
// Adapters and trainers out of files of strangers: refused by name with nothing kept, or read, and then each time alike.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { create } from 'qkv/models';
import { init } from 'qkv/train';
import { kinds } from '../../support/js/model-kinds.js';
import { randomWeights } from '../../support/js/model-oracle.js';
import { usual as usualConfig } from '../models/support/peft.js';
import { apply, changes, textOf } from './support/bytes.js';
import { expectNoPollution, expectRefusal } from './support/reading.js';
import { faults, spoilt } from './support/safetensors.js';
import { about, settings, watchdog } from './support/settings.js';

const usual = 125;
const watch = watchdog();
const engine = await init({ variant: 'simd' });
after(() => {
  watch.stop();
  engine.dispose();
});

const gpt2 = { ...kinds.gpt2, family: 'gpt2' };
const model = create(engine, gpt2, randomWeights(gpt2, 5));
const trainer = engine.languageModel.from(model, { lora: { rank: 2 }, seed: 1 });
const adapters = trainer.saveAdapters();
const whole = engine.languageModel.from(model).save({ optimizer: true });

/** What a file makes, twice: the same, or the same refusal. */
function madeTwice(fn, make) {
  const { handles } = engine.memory();
  try {
    const [one, other] = [make(), make()];
    assert.deepEqual(one.save(), other.save());
    one.dispose();
    other.dispose();
    return true;
  } catch (error) {
    expectRefusal(error, fn);
    return false;
  } finally {
    expectNoPollution();
    assert.equal(engine.memory().handles, handles);
  }
}

/** Files with anything in them. */
function expectRead(t, good, isRead) {
  t.diagnostic(about(usual));
  let count = 0;
  assert.ok(isRead(good));
  fc.assert(
    fc.property(fc.oneof(changes, faults), (all) => {
      watch.note(textOf(all));
      const isOfBytes = all.every(({ isEarly }) => isEarly !== undefined);
      count += Number(isRead(isOfBytes ? all.reduce(apply, good) : spoilt(good, all)));
    }),
    settings(usual),
  );
  t.diagnostic(`${count} were taken`);
  assert.ok(count > 0 && count < settings(usual).numRuns, `${count}`);
}

test('fuzz, LanguageModel.withAdapters: arrays with anything in them', (t) => {
  expectRead(t, adapters['adapter_model.safetensors'], (bytes) => {
    const files = { ...adapters, 'adapter_model.safetensors': bytes };
    return madeTwice('LanguageModel.withAdapters', () => model.withAdapters(files));
  });
});

test('fuzz, languageModel.from: arrays of adapters with anything in them', (t) => {
  expectRead(t, adapters['adapter_model.safetensors'], (bytes) => {
    const files = { ...adapters, 'adapter_model.safetensors': bytes };
    const make = () => engine.languageModel.from(model, { lora: { adapters: files } });
    return madeTwice('languageModel.from', make);
  });
});

test('fuzz, languageModel.fromFile: files with anything in them', (t) => {
  expectRead(t, whole, (bytes) =>
    madeTwice('languageModel.fromFile', () => engine.languageModel.fromFile(bytes)),
  );
});

test('fuzz, LanguageModel.withAdapters: adapter_config.json with anything in it', (t) => {
  t.diagnostic(about(usual));
  const own = JSON.parse(new TextDecoder().decode(adapters['adapter_config.json']));
  const field = fc.constantFrom(...Object.keys(usualConfig), 'other', '__proto__');
  let count = 0;
  fc.assert(
    fc.property(fc.array(fc.tuple(field, fc.jsonValue({ maxDepth: 2 })), { minLength: 1, maxLength: 3 }), (all) => {
      const config = JSON.stringify({ ...own, ...Object.fromEntries(all) });
      watch.note(config);
      const bytes = new TextEncoder().encode(config);
      const files = { ...adapters, 'adapter_config.json': bytes };
      count += Number(madeTwice('LanguageModel.withAdapters', () => model.withAdapters(files)));
    }),
    settings(usual),
  ); // prettier-ignore
  assert.ok(count > 0 && count < settings(usual).numRuns, `${count}`);
});
