// @run full, or after changes in web/src/features/model web/src/ui
// The panel of a trained model in Chromium: nothing of it before the press, the weights of the package after it, and a
// sentence for what it cannot read.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../support/js/files.js';
import { takeAll, violations } from './support/panel.js';
import { packageModule } from './support/engine.js';
import * as support from './support/page.js';

const { settle, tensors, visit } = support;
const { pageTest } = support.useSite();

const TEXT = 'She was tired. She was';
const fragment = `#v=1&x=${encodeURIComponent(TEXT)}`;

/** The model in Node, and the tokens of a text after the line break that begins it. */
async function austen() {
  const bytes = readFileSync(join(root, 'models/austen/austen.safetensors'));
  const header = JSON.parse(bytes.toString('utf8', 8, 8 + Number(bytes.readBigUInt64LE())));
  const { tokens } = JSON.parse(header.__metadata__.tokenizer);
  const [{ init }, { load }] = [await packageModule('index'), await packageModule('models')];
  const model = await load(await init(), { weights: new Blob([bytes]) }, { format: 'f32' });
  return { model, ids: Array.from(`\n${TEXT}`, (letter) => tokens.indexOf(letter)), tokens };
}

async function load(page, name) {
  await page.click(`[data-model=${name}] .load`);
  await page.waitForSelector('.model-near li');
  await settle(page);
}

pageTest(
  'model: comes with the press alone, and its heads are those of the package',
  { fragment },
  async (page) => {
    const asked = [];
    page.on('request', (request) => asked.push(request.url()));
    await visit(page, 'model');
    assert.deepEqual(
      asked.filter((url) => /safetensors|host|models-/.test(url)),
      [],
    );
    await load(page, 'austen');
    assert.equal(asked.filter((url) => url.endsWith('.safetensors')).length, 1);

    const { model, ids, tokens } = await austen();
    const { logits } = model.forward(ids, { rows: 'last' });
    const first = await page.textContent('.model-bars tbody tr:first-child bdi');
    assert.equal(first, tokens[logits.data.indexOf(Math.max(...logits.data))].replace(' ', '␣'));
    await page.click('[data-head="3"] [data-do=out]');
    await settle(page);
    const told = (await page.textContent('.model-loss'))
      .replaceAll('−', '-')
      .match(/[+-]?\d+\.\d+/g)
      .map(Number);
    const whole = model.loss(ids);
    const change = model.loss(ids, { inspect: { ablate: [[0, 3]] } }) - whole;
    assert.ok(Math.abs(told[0] - whole) < 1e-3, `loss ${told} and ${whole}`);
    assert.ok(
      Math.abs(told[3] - change) < 2e-3 * Math.abs(change) + 1e-5,
      `change ${told} and ${change}`,
    );

    await page.click('[data-head="14"] [data-do=map]');
    await settle(page);
    const { heads } = await tensors(page);
    assert.equal(heads.length, 16);
    const { layers } = model.forward(ids, { inspect: { weights: true, layers: [3] } });
    const size = ids.length ** 2;
    const wanted = layers.get(3).weights.data.subarray(2 * size, 3 * size);
    heads[14].weights.forEach((weight, i) => {
      assert.ok(Math.abs(weight - wanted[i]) < 2e-6, `cell ${i}: ${weight} and ${wanted[i]}`);
    });
    assert.ok(await page.isDisabled('#choose-mask'));

    // What stays in sight leaves room for what is looked at: text, two rows of settings and a line that says what is the model's.
    const bar = await page.locator('section.instruments').boundingBox();
    assert.ok(bar.height < 215, `${bar.height} px`);
    // Of long tokens the lens is wider than its card: it shows that it goes on, and the arrow keys go there.
    const lens = page.locator('qkv-model-lens .model-scroll');
    const { hidden, shadow } = await lens.evaluate((box) => {
      for (const token of box.querySelectorAll('bdi')) token.textContent += 'longtoken';
      const { backgroundImage, backgroundAttachment } = getComputedStyle(box);
      const isShadow =
        /radial-gradient/.test(backgroundImage) && /local/.test(backgroundAttachment);
      return { hidden: box.scrollWidth - box.clientWidth, shadow: isShadow };
    });
    assert.ok(hidden > 100 && shadow, `${hidden} px beyond the edge, shadow: ${shadow}`);
    await lens.focus();
    await page.keyboard.press('ArrowRight');
    await page.waitForFunction(() => document.querySelector('.model-lens').closest('.model-scroll').scrollLeft > 0); // prettier-ignore

    const name = () => page.getAttribute('.model-tokens label:nth-child(2) input', 'aria-label');
    assert.match(await name(), /nats/);
    await page.click('.language');
    await settle(page);
    assert.match(await name(), /意外程度/);
  },
);

pageTest(
  'model: writes on and stops, refuses what it cannot read, and breaks no rule of access',
  { fragment },
  async (page) => {
    await visit(page, 'model');
    await load(page, 'austen');
    await page.click('.model-card .write');
    await page.waitForFunction(
      () => document.querySelector('.model-written .written').textContent.length > 3,
    );
    await page.click('.model-card .write');
    await page.waitForFunction(
      () => document.querySelector('.model-card .write').textContent === 'Write',
    );
    const cached = Number((await page.textContent('.model-cache-text')).match(/\d+/)[0]);
    const written = await page.textContent('.model-written .written');
    assert.equal(
      cached,
      TEXT.length + 1 + written.length,
      'the cache holds what was read and what was written',
    );
    const hostile = { name: 'photo.safetensors', mimeType: '', buffer: Buffer.alloc(4096, 7) };
    await page.setInputFiles('.model-file input', hostile);
    await page.waitForSelector('.model-refused:not([hidden])');
    assert.match(
      await page.textContent('.model-refused'),
      /photo\.safetensors could not be loaded.*expected/s,
    );
    assert.ok(await page.isVisible('.model-bars'), 'the model before it is still there');
    assert.deepEqual(await violations(page, '#model'), []);
    const { data } = await takeAll(page, 'model');
    assert.equal(data.scores.previous.length, 16);
    assert.equal(data.next.bars.length, 10);
  },
);

// What a panel is for stays when its settings are hidden: they are not what starts anything.
const ACTIONS = {
  masks: ['.shuffle'],
  block: ['.block-run'],
  recurrence: ['[data-press=play]', '[data-press=load]', '[data-press=measure]'],
  learn: ['[data-do=play]', '.learn-model summary'],
  model: ['.write', '.measure', '[data-do=out]'],
  cost: ['.bench-run'],
};
pageTest(
  'page: without settings nothing of a panel is empty, and what starts something is there',
  { fragment: `${fragment}&lang=en&controls=0` },
  async (page) => {
    await visit(page, 'model');
    await load(page, 'austen');
    for (const [panel, buttons] of Object.entries(ACTIONS)) {
      await visit(page, panel);
      for (const button of buttons) {
        assert.ok(await page.isVisible(`#${panel} ${button}`), `${panel}: ${button}`);
      }
      const empty = await page.evaluate(
        (id) =>
          [...document.querySelectorAll(`#${id} .card`)]
            .filter((card) => card.checkVisibility())
            .filter((card) => {
              const seen = [...card.querySelectorAll('*')].filter(
                (part) => part.children.length === 0 && part.checkVisibility(),
              );
              return seen.every((part) => part.closest('h3, h4, .hint'));
            })
            .map((card) => card.textContent.trim().slice(0, 40)),
        panel,
      );
      assert.deepEqual(empty, [], panel);
    }
    assert.equal(await page.textContent('.bar-button.teacher'), 'End presentation');
    assert.ok(!(await page.isVisible('#model-seed')) && !(await page.isVisible('#cost-preset')));
    await page.click('.bar-button.teacher');
    await settle(page);
    assert.ok((await page.isVisible('#model-seed')) && (await page.isVisible('#cost-preset')));
  },
);
