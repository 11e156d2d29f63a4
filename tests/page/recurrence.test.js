// @run full, or after changes in web/src/features/recurrence web/src/ui
// Recurrence, attention and a transformer on one task, in Chromium: nothing before a press, the numbers of the package after it.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { recipes } from '../../models/recipes/index.js';
import { batches } from '../../models/recipes/random.js';
import { root } from '../support/js/files.js';
import * as support from './support/page.js';
import { takeAll, violations } from './support/panel.js';

const { set, visit } = support;
const { pageTest } = support.useSite();

const PANEL = 'qkv-panel-recurrence';
const KINDS = ['gru', 'gru_attention', 'transformer'];
const { recurrence } = recipes;
const card = JSON.parse(readFileSync(join(root, 'models/recurrence/card.json'), 'utf8'));

const press = (page, name) => page.click(`${PANEL} [data-press=${name}]`);
/** Waits for what the badge says of the weights. */
const badge = (page, text) =>
  page.waitForFunction(
    ([panel, wanted]) =>
      document.querySelector(`${panel} .recurrence-badge`).textContent.includes(wanted),
    [PANEL, text],
  );
const cells = (page, kind) => page.locator(`${PANEL} [data-model=${kind}] td`).allTextContents();
const digitsOf = async (page, row) =>
  (await page.locator(`${PANEL} .said-row`).nth(row).locator('.said-digit').allTextContents()).join(
    '',
  );

/** Loss and accuracy of the second step, as the package has them in Node. */
async function secondSteps(seed) {
  const { init } = await import(pathToFileURL(join(root, 'dist/train.js')).href);
  const qkv = await init({ deterministic: true });
  return KINDS.map((kind) => {
    const { config, options } = recurrence.variants[kind];
    const trainer = qkv.seq2seq(config, { ...recurrence.options, ...options, seed });
    const next = batches({ seed, batch: recurrence.batch, row: recurrence.row });
    trainer.step(next());
    const result = trainer.step(next());
    trainer.dispose();
    return result;
  });
}

pageTest('recurrence: a press trains, and another pauses', { fresh: true }, async (page) => {
  const asked = [];
  page.on('request', (request) => asked.push(request.url()));
  await visit(page, 'recurrence');
  const heavy = () => asked.filter((url) => /panel_worker(?!_client)|train|safetensors/.test(url));
  assert.deepEqual(heavy(), [], 'nothing before a press');
  assert.equal(await page.locator(`${PANEL} table`).isVisible(), false);
  await set(page, { recurrenceSeed: 5 });
  await press(page, 'step');
  await badge(page, '1 of 1500 steps, seed 5');
  await press(page, 'step');
  await badge(page, '2 of 1500 steps');
  const wanted = await secondSteps(5);
  for (const [i, kind] of KINDS.entries()) {
    const [parameters, steps, , loss, accuracy] = await cells(page, kind);
    assert.equal(Number(parameters.replace(',', '')), card.models[kind].parameters);
    assert.equal(steps, '2');
    // Three digits are shown; the relaxed build may round the last of them otherwise.
    assert.ok(Math.abs(Number(loss) - wanted[i].loss) <= 0.011, `${kind}: ${loss}`);
    const percent = Number(accuracy.replace('%', ''));
    assert.ok(Math.abs(percent - 100 * wanted[i].accuracy) <= 1, `${kind}: ${accuracy}`);
  }
  // By the keyboard: Enter goes on, Space pauses.
  await page.focus(`${PANEL} [data-press=play]`);
  await page.keyboard.press('Enter');
  await page.waitForFunction(
    (panel) =>
      Number(document.querySelector(`${panel} [data-model=gru] td:nth-child(3)`).textContent) > 3,
    PANEL,
  );
  assert.equal(await page.textContent(`${PANEL} [data-press=play]`), 'Pause');
  await page.keyboard.press('Space');
  await page.waitForFunction(
    (panel) => document.querySelector(`${panel} [data-press=play]`).textContent === 'Resume',
    PANEL,
  );
  assert.ok(heavy().length > 0);
});

pageTest('recurrence: the trained weights say, show and are counted', {}, async (page) => {
  await visit(page, 'recurrence');
  await set(page, { recurrenceSource: '31415926535897932384' });
  await press(page, 'load');
  await badge(page, 'npm run train -- recurrence, 1500 steps, seed 1');
  await page.waitForSelector(`${PANEL} .recurrence-reading:not([hidden])`);
  const wanted = '48323979853562951413';
  for (const row of [0, 2, 3]) assert.equal(await digitsOf(page, row), wanted);
  // One vector does not hold twenty digits: those that are marked are those that differ.
  const said = await digitsOf(page, 1);
  assert.notEqual(said, wanted);
  const marked = await page
    .locator(`${PANEL} .said-row`)
    .nth(1)
    .locator('.said-digit')
    .evaluateAll((all) => all.map((one) => one.classList.contains('said-wrong')));
  assert.deepEqual(
    marked,
    Array.from(said, (digit, i) => digit !== wanted[i]),
  );
  // The map by the keyboard: a cell is told in words.
  await page.mouse.move(0, 0); // a cell under the pointer would be where the keys begin
  await page.focus(`${PANEL} [data-map=gru_attention] .matrix-plot`);
  await page.keyboard.press('ArrowDown');
  await page.waitForFunction(
    (panel) =>
      /^To output \d at position \d+, GRU with attention gives the weight [\d.]+/.test(
        document.querySelector(`${panel} [data-map=gru_attention] [role=status]`).textContent,
      ),
    PANEL,
  );
  // Ten lengths of three models: up to 22, which no model was trained on.
  await page.waitForFunction(
    (panel) => document.querySelectorAll(`${panel} [data-chart=accuracy] .kind-point`).length >= 30,
    PANEL,
  );
  assert.deepEqual(await violations(page, PANEL), []);
  const { table, data } = await takeAll(page, 'recurrence');
  assert.deepEqual(data.spoken.said.transformer.ids.join(''), wanted);
  const counted = table.filter(([what]) => what === 'accuracy');
  for (const [, length, kind, accuracy, sequences] of counted) {
    const there = card.models[kind].byLength.find((each) => each.length === Number(length));
    const part = there.accuracy * (1 - there.accuracy);
    const bound = 4 * Math.sqrt(part * (1 / Number(sequences) + 1 / 100)) + 0.05;
    assert.ok(
      Math.abs(Number(accuracy) - there.accuracy) <= bound,
      `${kind} ${length} ${accuracy}`,
    );
  }
  assert.ok(counted.some(([, length]) => Number(length) > 20));
  const fragment = await page.evaluate(() => location.hash);
  assert.match(fragment, /rcx=31415926535897932384/);
});
