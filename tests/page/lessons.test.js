// @run full, or after changes in web/src/features/lessons web/src/app web/src/ui
// Lessons in Chromium: a link opens one, locks hold, answers are checked, paper has lines, and teachers make their own.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { inFullRun } from '../support/js/full.js';
import { until } from '../support/js/patience.js';
import { violations } from './support/panel.js';
import * as support from './support/page.js';

const { settle, set, snapshot, nextFrame } = support;
const { pageTest } = support.useSite();
const titles = Object.fromEntries(
  ['en', 'zh'].map((language) => {
    const path = `../../web/src/features/lessons/content_${language}.json`;
    return [language, JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'))];
  }),
);

/** Waits until a step of a lesson is there, with its panels. */
async function arrive(page, step) {
  await page.waitForFunction((name) => {
    const current = document.querySelector('.lesson-step.current');
    const panels = [...(current?.querySelectorAll('section[id] > [data-panel]') ?? [])];
    const here = panels.every((panel) => customElements.get(panel.localName));
    return current?.querySelector('h2')?.textContent.startsWith(name) && here;
  }, `${step}. `);
  await settle(page);
}

const exercise = (page, at) => page.locator('.lesson-step.current .lesson-exercises li').nth(at);

async function answer(page, at, text) {
  await exercise(page, at).locator('input[type=text]').fill(text);
  await exercise(page, at).locator('[type=submit]').click();
  return exercise(page, at).locator('.verdict').textContent();
}

const LESSON = '#v=1&lang=en&lesson=average';

pageTest(
  'lessons: a link opens one, and its answers are those of the page',
  { fragment: LESSON },
  async (page) => {
    await arrive(page, 1);
    assert.equal(await page.textContent('h1:visible'), titles.en.average.title);
    assert.ok(!(await page.isVisible('#map')) && (await page.isVisible('#row')));
    const seen = await page.innerText('.lesson-step.current .lesson-panels');
    assert.match(seen, /0\.2300/, 'the products are on the screen');
    assert.doesNotMatch(seen, /0\.41|0\.2899/, 'what is asked is not');
    assert.match(await answer(page, 0, '0.5'), /smaller number/);
    assert.match(await answer(page, 0, 'much'), /Write a number/);
    assert.match(await answer(page, 0, '0,41'), /^Right\. The answer is 0\.41/);
    assert.match(await answer(page, 1, '0.2899'), /^Right/);
    await page.click('.lesson-step.current .next');
    await arrive(page, 2);
    assert.equal(await page.evaluate(() => document.activeElement.textContent.slice(0, 2)), '2.');
    await exercise(page, 1).locator('input').nth(0).check();
    await exercise(page, 1).locator('[type=submit]').click();
    assert.match(await exercise(page, 1).locator('.verdict').textContent(), /^No/);
    await exercise(page, 1).locator('input').nth(1).check();
    await exercise(page, 1).locator('[type=submit]').click();
    assert.equal(await exercise(page, 1).locator('.verdict').textContent(), 'Right.');
    // Other settings have other answers, and the page says so.
    await set(page, { rowScale: 5 });
    const weight = (await snapshot(page)).frame.row.weights[2];
    assert.match(await answer(page, 0, String(weight)), /^Right.*changed the settings/);
    await page.click('.lesson-step.current .back button');
    await settle(page);
    assert.equal((await snapshot(page)).state.rowScale, null);
    assert.match(await page.evaluate(() => location.hash), /lesson=average&step=2$/);
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.click('[data-answers=save]'),
    ]);
    assert.equal(file.suggestedFilename(), 'qkv-answers-average.csv');
    const lines = readFileSync(await file.path(), 'utf8').split('\r\n');
    assert.match(lines[1], /,1,1,.*,"0,41",right,2,no,\d{4}-/, lines[1]);
    await page.click('[data-answers=clear]');
    assert.equal(await page.evaluate(() => localStorage.getItem('qkv-lesson-answers')), null);
    assert.equal(await exercise(page, 1).locator('input:checked').count(), 0);
    await page.click('[data-answers=undo]');
    assert.equal(await exercise(page, 1).locator('input:checked').inputValue(), '1');
    await page.click('.language');
    await page.waitForFunction(
      (title) => document.querySelector('.lesson-head h1')?.textContent === title,
      titles.zh.average.title,
    );
    await arrive(page, 2);
    await page.click('.lesson-head .leave');
    await page.waitForFunction(() => !document.querySelector('qkv-lesson'));
    await settle(page);
    assert.deepEqual(
      await page.evaluate(() =>
        [...document.querySelectorAll('main > section[id]')].map(({ id }) => id),
      ),
      support.panels,
    );
    assert.ok((await page.isVisible('#map')) && (await page.isVisible('.hero h1')));
  },
);

pageTest(
  'lessons: what is locked is seen, says why, and does not move',
  { fragment: '?lesson=reads&step=5', width: 390, colorScheme: 'dark' },
  async (page) => {
    await arrive(page, 5);
    const { state } = await snapshot(page);
    assert.equal(state.head, 2);
    const box = page.locator('[name=head]').first();
    assert.ok(await box.isDisabled());
    const reason = await box.evaluate(
      (e) =>
        document.getElementById(e.getAttribute('aria-describedby').split(' ').at(-1)).textContent,
    );
    assert.match(reason, /Locked by the teacher/);
    await set(page, { head: 4, temperature: 9, text: 'other words' });
    assert.deepEqual((await snapshot(page)).state, state, 'no way around');
    assert.match(await answer(page, 0, '1/2'), /^Right/);
    assert.deepEqual(await violations(page), []);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= 390, `${wide} px wide`);
    await page.click('[data-to="2"] >> nth=0');
    await arrive(page, 3);
    assert.ok(await box.isEnabled());
  },
);

pageTest(
  'lessons: panels ask first, and paper has figures, lines and the link',
  { fragment: '#v=1&lang=zh&lesson=order&step=4', locale: 'zh-CN' },
  async (page) => {
    await arrive(page, 4);
    assert.ok(!(await page.isVisible('.swapped')));
    await page.click('qkv-mask-order [data-guess=breaks]');
    await settle(page);
    assert.ok(await page.isVisible('.swapped'));
    assert.match(await page.textContent('qkv-mask-order .guess-answer'), /^猜对了。/);
    await page.evaluate(() => (window.print = () => (window.printed = true)));
    await page.click('.lesson-head .print');
    await page.waitForFunction(() => window.printed);
    await page.emulateMedia({ media: 'print' });
    const paper = await page.evaluate(() => {
      const seen = (selector) =>
        [...document.querySelectorAll(selector)].filter((e) => e.checkVisibility()).length;
      return {
        steps: seen('.lesson-step'),
        figures: seen('.lesson-figures img'),
        lines: seen('.answer-lines i'),
        buttons: seen('.lesson-step button'),
        link: document.querySelector('qkv-lesson > .lesson-link').textContent,
      };
    });
    await page.emulateMedia({ media: null });
    const steps = titles.zh.order.steps.length;
    assert.deepEqual([paper.steps, paper.figures, paper.buttons], [steps, steps, 0]);
    assert.ok(paper.lines >= 12, `${paper.lines} lines`);
    assert.match(paper.link, /lesson=order/);
  },
);

/** What the step on the screen shows, from the top. */
const shown = (page) =>
  page.evaluate(() =>
    Array.from(
      document.querySelectorAll('.lesson-step.current .lesson-panels > *'),
      (element) => element.id || element.className,
    ),
  );

pageTest(
  'lessons: over the list and back, a lesson has its panels again, and so has the page',
  { fragment: '#v=1&lang=en&lesson=reads' },
  async (page) => {
    await arrive(page, 1);
    const before = await shown(page);
    assert.ok(before.length > 0);
    await page.click('.lesson-head .all');
    await page.click('.lesson-list h2 a[href*="lesson=reads"]');
    await arrive(page, 1);
    assert.deepEqual(await shown(page), before);
    await page.click('.lesson-head .leave');
    await page.waitForSelector('#map:visible');
  },
);

inFullRun('more lessons in Chromium, and leaving while a worksheet is made', () => {
  pageTest(
    'lessons: who leaves while a worksheet is made has the page, and nothing is printed',
    { fragment: '#v=1&lang=en&lesson=order' },
    async (page) => {
      await arrive(page, 1);
      await page.evaluate(() => {
        window.print = () => (window.printed = true);
        document.querySelector('.lesson-head .print').click();
        document.querySelector('.lesson-head .leave').click();
      });
      await page.waitForFunction(() => !document.querySelector('qkv-lesson'));
      // As many frames as all steps of the worksheet would have taken.
      for (let i = 0; i < 30; i++) await nextFrame(page);
      await settle(page);
      const places = await page.evaluate(() =>
        [...document.querySelectorAll('main > section[id]')].map(({ id }) => id),
      );
      assert.deepEqual(places, support.panels);
      await set(page, { seed: 9 });
      await support.addressed(page, 'seed=9');
      assert.equal(await page.evaluate(() => window.printed), undefined);
    },
  );

  // Steps and answers of these two are in the visit of tests/page/numbers/visited.test.js and in lessons.test.js beside it.
  pageTest(
    'lessons: 64 rows are learned by heart, and with 512 the model is right on new rows, too',
    { fragment: '#v=1&lang=en&lesson=heart' },
    async (page) => {
      let said = '';
      /** The accuracy on rows of training and on new ones, in percent, when another run has ended. */
      const accuracies = async () => {
        await page.click('qkv-panel-learn [data-do=play]');
        const ended = await page.waitForFunction((before) => {
          const { innerText } = document.querySelector('qkv-panel-learn');
          const now = innerText.match(/Step 400 · [^\n]*/)?.[0];
          return now !== before && now;
        }, said);
        said = await ended.jsonValue();
        return [...said.matchAll(/accuracy (\d+)%/g)].map(([, percent]) => Number(percent));
      };
      await arrive(page, 1);
      const [few, fewNew] = await accuracies();
      await page.click('.lesson-step.current .next');
      await arrive(page, 2);
      const [more, moreNew] = await accuracies();
      const all = `${few}%, ${fewNew}% and ${more}%, ${moreNew}%`;
      assert.ok(few >= 99 && fewNew >= 60 && fewNew <= 80, all);
      assert.ok(more >= 97 && moreNew >= 95, all);
    },
  );
  pageTest(
    'lessons: the cost of a model is counted, and its sizes are locked where an answer rests on them',
    { fragment: '#v=1&lang=en&lesson=block&step=5' },
    async (page) => {
      await arrive(page, 5);
      assert.ok((await page.isDisabled('#cost-tokens')) && (await page.isDisabled('#cost-preset')));
      assert.match(await answer(page, 0, '512'), /^Right/);
      await page.click('[data-to="3"] >> nth=0');
      await arrive(page, 4);
      assert.ok(await page.isEnabled('#cost-tokens'));
      assert.match(await answer(page, 1, '13404'), /^Right/);
      assert.match(await answer(page, 2, '37.7'), /^Right/);
      await page.selectOption('#cost-preset', 'llama8');
      await settle(page);
      assert.match(await answer(page, 2, '37.7'), /larger number.*changed the settings/);
    },
  );
});

pageTest(
  'lessons: a teacher makes one from what is on the screen, and it opens in a frame',
  { fragment: '#v=1&lang=en&tau=0.5&h=3' },
  async (page) => {
    await page.click('.bar-button.lessons');
    await page.waitForSelector('.lesson-list li');
    assert.equal((await page.locator('.lesson-list > li').count()) >= 18, true);
    assert.deepEqual(await violations(page), []);
    await page.click('.make');
    await page.fill('.editor [name=title]', 'Heads <b>&amp;</b> 猫');
    await page.fill('[data-field-of=text]', 'Read the row.');
    await page.click('.step-panels summary');
    await page.check('.step-panels [value=sentence]');
    await page.click('.step-locks summary');
    await page.check('.step-locks [value=temperature]');
    await page.click('[data-step=exercise]');
    await page.fill('[data-part=text]', 'How large is the largest weight?');
    await page.selectOption('[data-part=kind]', 'number');
    await page.selectOption('[data-part=number]', 'largest');
    await nextFrame(page);
    assert.deepEqual(await violations(page, 'dialog'), []);
    await page.click('.editor [data-do=embed]');
    await page.waitForFunction(() =>
      document.querySelector('.editor-said').textContent.startsWith('Copied'),
    );
    const code = await page.evaluate(() => navigator.clipboard.readText());
    const src = /src="([^"]+)"/.exec(code)[1].replace(/&amp;/g, '&');
    assert.ok(src.includes('?embed=lesson#v=1&lang=en&L=z'), src);
    assert.ok(code.includes('title="Heads <b>&amp;amp;</b> 猫"'), code);
    await page.goto(src);
    await arrive(page, 1);
    assert.equal(await page.textContent('.lesson-head h1'), 'Heads <b>&amp;</b> 猫');
    assert.ok(!(await page.isVisible('.top')) && (await page.isVisible('#tau')));
    assert.ok((await page.isDisabled('#tau')) && (await page.isEnabled('#choose-head')));
    const { state, frame } = await snapshot(page);
    assert.deepEqual([state.temperature, state.head], [0.5, 3]);
    assert.match(await answer(page, 0, String(frame.query.weights[frame.query.largest])), /^Right/);
    // A damaged link leads to the list.
    await page.goto(`${src.slice(0, -20)}`);
    await page.waitForSelector('qkv-lessons .missing:visible');
  },
);

pageTest(
  'lessons: Back is the step before, with what was answered, and before that the page',
  { fragment: '#v=1&lang=en&h=2' },
  async (page) => {
    const hash = () => page.evaluate(() => location.hash);
    await page.evaluate((to) => location.assign(to), LESSON);
    await arrive(page, 1);
    assert.match(await answer(page, 0, '0,41'), /^Right/);
    await page.click('.lesson-step.current .next');
    await arrive(page, 2);
    await page.click('.lesson-steps li:nth-child(5) button');
    await arrive(page, 5);
    await page.goBack();
    await arrive(page, 2);
    await page.goBack();
    await arrive(page, 1);
    assert.equal(await hash(), LESSON);
    const own = exercise(page, 0);
    assert.equal(await own.locator('input').inputValue(), '0,41');
    assert.match(await own.locator('.verdict').textContent(), /^Right/);
    await page.goForward();
    await arrive(page, 2);
    await page.goBack();
    await arrive(page, 1);
    await page.goBack();
    await page.waitForSelector('#map:visible');
    await settle(page);
    assert.equal((await snapshot(page)).state.head, 2);
  },
);

pageTest(
  'lessons: Back from the map is the panel whose button led there',
  { fragment: '#v=1&lang=en&h=2&p=row' },
  async (page) => {
    await page.waitForSelector('#row .to-map');
    await settle(page);
    const before = await page.evaluate(() => scrollY);
    await page.click('#row .to-map');
    await page.waitForFunction(() => window.__qkv.snapshot().state.source === 'yours');
    await page.waitForFunction(() => {
      const said = new URLSearchParams(location.hash.slice(1));
      return said.get('p') === 'map' && said.get('src') === 'yours';
    });
    assert.ok((await page.evaluate(() => scrollY)) < before);
    await page.goBack();
    await page.waitForFunction(() => window.__qkv.snapshot().state.source === 'constructed');
    await settle(page);
    assert.equal((await snapshot(page)).state.head, 2);
  },
);

inFullRun('the editor of lessons beside the page', () => {
  pageTest(
    'lessons: the editor stands beside the page, where a step is set up, and rows are dragged',
    { fragment: '#v=1&lang=en&lesson=average' },
    async (page) => {
      await arrive(page, 1);
      await page.click('.lesson-head .adapt');
      await page.waitForSelector('.editor-dialog[open]');
      const apart = await page.evaluate(() => {
        const edge = (selector) => document.querySelector(selector).getBoundingClientRect();
        return edge('.editor-dialog').left - edge('main').right;
      });
      assert.ok(apart >= 0, `${apart} px between the page and the editor`);
      assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 1280);
      assert.deepEqual(await violations(page, 'dialog'), []);
      // The page is there to be used: what is set on it becomes the step.
      await page.click('.lesson-head .leave');
      await page.waitForFunction(() => !document.querySelector('qkv-lesson'));
      await set(page, { seed: 77 });
      await page.click('.editor-steps > li:first-child [data-step=state]');
      const rows = page.locator('.editor-order li');
      const first = await rows.first().locator('.order-name').textContent();
      await rows.nth(1).evaluate((row) => row.scrollIntoView({ block: 'center' }));
      const [from, to] = [await rows.nth(0).boundingBox(), await rows.nth(2).boundingBox()];
      await page.mouse.move(from.x + 12, from.y + from.height / 2);
      await page.mouse.down();
      for (const share of [0.4, 0.8, 1])
        await page.mouse.move(from.x + 12, from.y + (to.y - from.y) * share + from.height / 2 + 4);
      await page.mouse.up();
      assert.equal(
        (await rows.nth(2).locator('.order-name').textContent()).slice(2),
        first.slice(2),
      );
      await rows.nth(2).locator('[data-move="-1"]').focus();
      await page.keyboard.press('Enter');
      await page.keyboard.press('Enter');
      assert.equal(await rows.first().locator('.order-name').textContent(), first);
      await page.click('.editor [data-do=try]');
      await arrive(page, 1);
      assert.equal((await snapshot(page)).state.seed, 77);
      assert.ok(await page.isVisible('.editor-dialog'));
      await page.click('.editor [data-do=close]');
      await page.waitForSelector('.editor-dialog', { state: 'hidden' });
    },
  );
});

/** Cards of a panel, and pictures of chapters, in which there is nothing but words. */
function emptyCards(id) {
  const seen = (element) => element.checkVisibility() && element.getBoundingClientRect().height > 0;
  const shows =
    'canvas, svg, table, input, select, button, qkv-matrix, .picture-bars, math, pre, dd, li, textarea';
  return [...document.querySelectorAll(`#${id} .card, main .chapter-picture:not(:empty)`)]
    .filter((card) => seen(card) && ![...card.querySelectorAll(shows)].some(seen))
    .map((card) => `${card.closest('section, article').id}: ${card.innerText.slice(0, 60)}`);
}

inFullRun('every panel in a presentation', () => {
  pageTest(
    'lessons: a presentation leaves no card without something to see',
    { fragment: '#v=1&lang=en&controls=0' },
    async (page) => {
      await page.evaluate(() =>
        document.querySelectorAll('[data-opens]').forEach((one) => one.click()),
      );
      const empty = [];
      for (const id of support.panels) {
        await support.visit(page, id);
        // Some of them wait for what a worker computes.
        let found = [];
        const isNone = async () => {
          found = await page.evaluate(emptyCards, id);
          return found.length === 0;
        };
        await until(isNone).catch(() => undefined);
        empty.push(...found);
      }
      assert.deepEqual(empty, []);
      assert.ok(
        !(await page.isVisible('.chapter-act')),
        'what to do with controls that are not there',
      );
    },
  );
});

pageTest(
  'lessons: a draft is there after the page was loaded anew, until it is discarded',
  { fragment: '#v=1&lang=en&lesson=index' },
  async (page) => {
    const open = async (name) => {
      await page.getByRole('button', { name }).click();
      await page.waitForSelector('.editor-dialog[open]');
    };
    await open('Make a lesson of your own');
    await page.fill('.editor [name=title]', 'Mine');
    await page.fill('.editor [data-field-of=text]', 'First.');
    await page.reload();
    await page.waitForSelector('.lesson-list li');
    await open('Continue your draft “Mine”');
    assert.equal(await page.inputValue('.editor [name=title]'), 'Mine');
    assert.equal(await page.inputValue('.editor [data-field-of=text]'), 'First.');
    await page.click('[data-do=discard]');
    assert.equal(await page.inputValue('.editor [name=title]'), '');
    await page.reload();
    await page.waitForSelector('.lesson-list li');
    await open('Make a lesson of your own');
    assert.equal(await page.inputValue('.editor [name=title]'), '');
  },
);
