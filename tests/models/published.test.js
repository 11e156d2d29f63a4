// The models that are committed: what their cards say of their files and of how they were made is true.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { before, describe, test } from 'node:test';
import { recipes } from '../../models/recipes/index.js';
import { modelFile, readModel } from '../../models/trainer/file.js';
import { buildTrainer } from '../../models/trainer/native.js';
import { trainerWith } from '../../models/trainer/publish.js';
import { packageJson, read, text } from '../support/js/files.js';

const MOST_BYTES = 1.5e6;
/** What int8 may add to a loss. */
const MOST_ADDED = 0.005;

before(() => buildTrainer());

const cardOf = (name) => JSON.parse(text(`models/${name}/card.json`));
const each = Object.entries(recipes).filter(([, { measure }]) => measure);

test('models: none of them is in the npm package', () => {
  assert.ok(packageJson.files.every((path) => !path.startsWith('models') && !path.startsWith('*')));
});

for (const [name, recipe] of each) {
  const card = cardOf(name);
  describe(`models: ${name}`, () => {
    test('the card names the data that the recipe fetches, and a license', () => {
      assert.deepEqual(card.data, recipe.archives);
      assert.equal(card.license, 'MIT');
      assert.deepEqual(Object.keys(card.models), Object.keys(recipe.variants));
    });

    for (const [variantName, { config, steps, options, expect }] of Object.entries(
      recipe.variants,
    )) {
      const model = card.models[variantName];
      const bytes = read(`models/${name}/${model.file.name}`);

      test(`${variantName}: the file is the one of the card, and small`, () => {
        const sha256 = createHash('sha256').update(bytes).digest('hex');
        const { length } = bytes;
        assert.deepEqual(model.file, { name: `${variantName}.safetensors`, bytes: length, sha256 });
        assert.ok(length <= MOST_BYTES, `${length}`);
      });

      test(`${variantName}: the log is that of the recipe, and ends as the card says`, () => {
        const [about, ofConfig, ofOptions, head, ...rows] = text(
          `models/${name}/${variantName}.csv`,
        )
          .trim()
          .split('\n');
        const { commit, instructionSet, seed } = model.run;
        assert.equal(
          about,
          `# recipe ${name}, ${variantName}; commit ${commit}; ${instructionSet}`,
        );
        assert.deepEqual(JSON.parse(ofConfig.replace('# config ', '')), config);
        const all = { ...recipe.options, ...options, seed };
        assert.deepEqual(JSON.parse(ofOptions.replace('# options ', '')), all);
        assert.deepEqual(model.config, config);
        const last = Object.fromEntries(
          rows
            .at(-1)
            .split(',')
            .map((cell, i) => [head.split(',')[i], Number(cell)]),
        );
        assert.deepEqual([last.step, model.run.steps], [steps, steps]);
        assert.ok(last.heldOutAccuracy >= (expect.atLeast ?? 0), `${last.heldOutAccuracy}`);
        assert.ok(last.heldOutLoss <= (expect.lossAtMost ?? Infinity), `${last.heldOutLoss}`);
      });

      test(`${variantName}: int8 adds little to the loss`, () => {
        const { loss, lossOfFloats } = model.heldOut;
        assert.ok(Math.abs(loss / lossOfFloats - 1) <= MOST_ADDED, `${loss}, ${lossOfFloats}`);
      });

      test(`${variantName}: its weights fit the config, and its tokens the vocabulary`, async () => {
        const { config: kept, tokenizer, weights } = await readModel(bytes);
        for (const [key, value] of Object.entries(config)) assert.deepEqual(kept[key], value, key);
        assert.equal(tokenizer.tokens.length, config.vocabulary);
        const trainer = await trainerWith({ config, weights });
        assert.equal(trainer.parameterCount, model.parameters);
        assert.deepEqual(
          [...weights.keys()],
          trainer.arrays.map((array) => array.name),
        );
        trainer.dispose();
        // Written once more, it is the same file: int8 rounds nothing twice.
        const again = await modelFile({ config, weights, tokenizer: { json: tokenizer } }, 'int8');
        assert.deepEqual(Buffer.from(again), bytes);
      });
    }
  });
}

test('models: austen is below n-grams of five characters', () => {
  const { baseline, models } = cardOf('austen');
  const { loss } = models.austen.heldOut;
  assert.ok(loss <= baseline['5-gram'] - 0.05, `${loss}`);
});

test('models: tang keeps the form', () => {
  const { samples } = cardOf('tang').models.tang;
  assert.ok(samples.count >= 1000 && samples.keepTheForm >= 0.95, `${samples.keepTheForm}`);
});

test('models: phones has models of one size, and attention helps', () => {
  const models = Object.values(cardOf('phones').models);
  const sizes = models.map(({ parameters }) => parameters);
  assert.ok(Math.max(...sizes) <= 1.06 * Math.min(...sizes), `${sizes}`);
  const [vector, attention] = models.map(({ accuracy }) => accuracy.words);
  assert.ok(attention > vector, `${attention}, ${vector}`);
});

test('models: recurrence has models of one size, and only attention says what is long', () => {
  const { gru, gru_attention: attention, transformer } = cardOf('recurrence').models;
  const sizes = [gru, attention, transformer].map(({ parameters }) => parameters);
  assert.ok(Math.max(...sizes) <= 1.01 * Math.min(...sizes), `${sizes}`);
  const at = ({ byLength }, asked) => byLength.find(({ length }) => length === asked).accuracy;
  assert.ok(at(gru, 6) > 0.98 && at(gru, 20) < 0.6, `${at(gru, 20)}`);
  assert.ok(at(attention, 20) > 0.98 && at(transformer, 20) > 0.98);
  // None has been trained on more than 20.
  for (const model of [gru, attention, transformer]) assert.ok(at(model, 30) < 0.4);
  const bytes = Object.values(cardOf('recurrence').models).map(({ file }) => file.bytes);
  assert.ok(bytes.reduce((a, b) => a + b) <= 150_000, `${bytes}`);
});

test('models: names answers where it was trained, and its circuit is in few heads', () => {
  const { english, chinese } = cardOf('names').models.names;
  for (const [language, figures] of Object.entries({ english, chinese })) {
    const { known, templates, places, names, heads } = figures;
    assert.ok(known.accuracy >= 0.98 && places.accuracy >= 0.98, language);
    assert.ok(templates.accuracy >= 0.85, `${language}: ${templates.accuracy}`);
    // It knows its names, not what a name is: the card and the page say so.
    assert.ok(names.accuracy <= 0.5, `${language}: ${names.accuracy}`);
    const left = Object.values(heads).map(({ without }) => without.difference / known.difference);
    assert.ok(Math.min(...left) < 0.5 && Math.max(...left) > 0.8, `${language}: ${left}`);
  }
});

test('models: novels has one head of the token before and several of induction, and copies by them', () => {
  const { scores, losses } = cardOf('novels').models.novels.heads;
  const all = Object.values(scores);
  assert.ok(all.filter(({ previous }) => previous >= 0.9).length === 1);
  assert.ok(all.filter(({ induction }) => induction >= 0.4).length >= 2);
  const { whole, withoutPrevious, withoutInduction } = losses;
  for (const without of [withoutPrevious, withoutInduction]) {
    assert.ok(whole.copies < 0.5 && without.copies > 5, `${without.copies}`);
    // Of the novels they know something as well, and most is elsewhere.
    assert.ok(without.text > whole.text && without.text < whole.text + 1, `${without.text}`);
  }
});
