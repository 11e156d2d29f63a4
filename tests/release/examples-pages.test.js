// @build any
// The pages of examples/ that need no build, with the package as packed: what Chromium and Firefox make of them.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { inflateRawSync } from 'node:zlib';
import { serve as servePage } from '../../tools/serve.js';
import { violations } from '../page/support/panel.js';
import { root, text } from '../support/js/files.js';
import { inFullRun } from '../support/js/full.js';
import { until } from '../support/js/patience.js';
import { folder, serve } from '../support/js/server.js';
import { replaced } from './consumers/stranger.js';
import { answer, arrive, choose, lessonIn, openTab, tabTo, testIn } from './example-tabs.js';
import { installExamples, replacements } from './examples.js';

let installed;
let server;
before(async () => {
  installed = await installExamples();
  for (const { file } of replacements) installed.write(file, outside(file));
  const [own, page] = [folder(installed.project), folder(root)];
  server = await serve((path) => {
    const file = path.replace(/\/$/, '/index.html');
    return path.startsWith('/dist/web/') ? page(file) : own(file);
  });
});
after(async () => {
  await server?.close();
  installed?.remove();
});

/** A file that names the package by its address, as the README tells those to write it who have no checkout. */
function outside(file) {
  const { here, there } = replacements.find((one) => one.file === file);
  return replaced(text(file), here, there).replaceAll(here, () => there);
}

/** The address of a page. */
const at = (name) => `${server.url}/examples/${name}/`;

describe('examples: train-worker', () => {
  /** What the page says when it was trained to the end, and how it looks; then that it stops, and learns again. */
  async function use(browser, t) {
    const { tab, complaints, close } = await openTab(browser, at('train-worker'));
    const said = () => tab.evaluate(() => document.getElementById('status').value);
    const ended = async (pattern) => {
      await until(
        async () => /;|failed/.test(await said()),
        () => 'training has ended',
      );
      assert.match(await said(), pattern);
      assert.deepEqual(
        await tab.evaluate(() =>
          ['start', 'stop'].map((id) => document.getElementById(id).disabled),
        ),
        [false, true],
      );
      return said();
    };
    // Part of the plot's columns that have ink in them, between what is written above and below.
    const inked = () =>
      tab.evaluate(async () => {
        await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
        const { width, height } = document.getElementById('plot');
        const context = document.getElementById('plot').getContext('2d');
        const { data } = context.getImageData(0, 0, width, height);
        const ink = (x) =>
          Array.from({ length: height }, (_, y) => data[4 * (y * width + x) + 3]).some(
            (a) => a > 0,
          );
        return Array.from({ length: width }, (_, x) => ink(x)).filter(Boolean).length / width;
      });
    assert.equal(await said(), 'not started');
    await tab.click('#start');
    const first = await ended(/^step \d{2,3}, (99|100) % of new rows right; learned$/);
    const drawn = await inked();
    assert.ok(drawn > 0.5, `${drawn} of the columns`);
    // Where the worker heard nothing while it trains, it would go on until the model has learned.
    await tab.evaluate(() =>
      ['start', 'stop'].forEach((id) => document.getElementById(id).click()),
    );
    await ended(/^step \d{1,2}, \d+ % of new rows right; stopped$/);
    await tab.click('#start');
    assert.equal(await ended(/learned$/), first, 'the same seed');
    assert.deepEqual(complaints, []);
    await close();
    t.diagnostic(first);
  }

  const title = 'train-worker trains, draws, stops and trains again';
  inFullRun('train-worker in browsers', () => {
    testIn('Chromium', title, use);
    testIn('Firefox', title, use);
  });
});

describe('examples: blog-lesson', () => {
  const name = 'examples/blog-lesson/index.html';
  const lesson = JSON.parse(text('examples/blog-lesson/lesson.json'));
  /** The places of a text that the post fills in, with the numbers that it has without a script. */
  const filled = /(<b class="(?:share|average)">)([^<]*)/g;
  const published = Array.from(text(name).matchAll(filled), ([, , number]) => number);
  /** The post, without these numbers, and with what else is to be changed. */
  const post = (change = (html) => html) =>
    installed.write(name, change(outside(name)).replace(filled, '$1?'));
  /** What frame.js prints, for a page at some address. */
  const framesOf = async (...address) => {
    const program = 'examples/blog-lesson/frame.js';
    return (await installed.inProject(process.execPath, program, ...address)).stdout;
  };
  const addressesIn = (html) =>
    Array.from(html.matchAll(/(?:src|href)="([^"]*#[^"]*)"/g), ([, address]) =>
      address.replaceAll('&amp;', '&'),
    );
  /** The other attributes of the frame. */
  function frameOf(html) {
    const [tag] = /<iframe\s[^>]*>/.exec(html);
    const { src, ...rest } = Object.fromEntries(
      Array.from(tag.matchAll(/([a-z]+)="([^"]*)"/g), ([, key, value]) => [key, value]),
    );
    assert.ok(src);
    return rest;
  }
  /** An address without its lesson, and the lesson. */
  function taken(address) {
    const [, before, code] = /^(.*&L=)z([\w-]+)$/.exec(address);
    return [before, JSON.parse(inflateRawSync(Buffer.from(code, 'base64url')).toString())];
  }

  test('examples: blog-lesson has the lesson of lesson.json, as frame.js prints it', async () => {
    const expected = ['?embed=lesson#v=1&lang=en&L=', '#v=1&lang=en&L='];
    for (const [html, page] of [
      [text(name), '../../dist/web/'],
      [await framesOf(), '../../dist/web/'],
      [await framesOf('https://example.org/qkv/'), 'https://example.org/qkv/'],
    ]) {
      assert.deepEqual(
        addressesIn(html).map(taken),
        expected.map((rest) => [`${page}${rest}`, lesson]),
      );
      assert.deepEqual(frameOf(html), frameOf(text(name)));
    }
  });

  async function use(browser) {
    const { tab, complaints, close } = await openTab(browser, at('blog-lesson'));
    const numbers = () =>
      tab.evaluate(() => Array.from(document.querySelectorAll('main b'), (b) => b.textContent));
    await until(
      async () => !(await numbers()).includes('?'),
      () => 'the numbers of the post',
    );
    assert.deepEqual(await numbers(), published, 'with and without a script');

    const frame = await lessonIn(tab);
    const row = () =>
      frame.evaluate(() => {
        const { weights, output } = globalThis.__qkv.snapshot().frame.row;
        return { weights: Array.from(weights), output: Array.from(output) };
      });
    const { weights, output } = await row();
    const digits = (values, count) => values.map((value) => value.toFixed(count));
    assert.deepEqual([...digits(weights, 3), ...digits(output, 2)], published, 'of post and page');
    const rows = (selector) =>
      tab.evaluate(
        (wanted) => Array.from(document.querySelectorAll(wanted), (e) => +e.textContent),
        selector,
      );
    const state = await frame.evaluate(() => globalThis.__qkv.snapshot().state.numbers);
    assert.deepEqual(state.q.slice(0, 2), await rows('.wish .is'));
    assert.deepEqual([state.k, state.v], [await rows('.coat .is'), await rows('.coat .has')]);

    // The post has nothing to be focused before the frame.
    await tabTo(tab, frame, '.lesson-step.current .lesson-exercises input');
    assert.match(await answer(tab, frame, 0, '0.9'), /smaller number/);
    assert.match(await answer(tab, frame, 0, published[1]), /^Right\. The page computes 0\.4646/);
    assert.match(await answer(tab, frame, 1, '180'), /larger number/);
    assert.match(await answer(tab, frame, 1, published[3]), /^Right/);
    await frame.click('.lesson-step.current .next');
    await arrive(frame, 2);
    assert.match(await choose(frame, 0, 1), /^No/);
    assert.equal(await choose(frame, 0, 0), 'Right.');
    assert.match(await answer(tab, frame, 1, published[2]), /larger number/);
    const [, , third] = (await row()).weights;
    assert.match(await answer(tab, frame, 1, third.toFixed(3)), /^Right/);
    assert.deepEqual(complaints, []);
    return { tab, close };
  }

  testIn(
    'Chromium',
    'blog-lesson says what its lesson says, which a reader can do',
    async (browser) => {
      post();
      const { tab, close } = await use(browser);
      assert.deepEqual(await violations(tab, 'main > :not(figure)'), []);
      await close();
    },
  );

  inFullRun('blog-lesson in Firefox, and with the page of another origin', () => {
    testIn('Firefox', 'blog-lesson says what its lesson says', async (browser) => {
      post();
      await (await use(browser)).close();
    });

    for (const name of ['Chromium', 'Firefox'])
      testIn(name, 'blog-lesson has the page of another origin', async (browser) => {
        const page = await servePage({ port: 0 });
        try {
          post((html) => html.replaceAll('../../dist/web/', page.url));
          await (await use(browser)).close();
        } finally {
          await page.close();
        }
      });
  });
});
