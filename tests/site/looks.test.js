// The documentation in Chromium: both themes, on a phone and on a laptop, by the rules of accessibility, by keyboard and
// without script.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { documentation, serve } from '../../tools/serve.js';
import { hasCore } from '../../tools/docs/contents.js';
import { full, leaveToFullRun } from '../support/js/full.js';
import { PATIENCE } from '../support/js/patience.js';
import { launch } from '../page/support/page.js';
import { violations } from '../page/support/panel.js';

const widths = [390, 1280];
const themes = ['light', 'dark'];
const looks = widths.flatMap((width) => themes.map((colorScheme) => ({ width, colorScheme })));

/** What is read most, and what is widest. Of those besides the first an everyday run looks at every width and theme once. */
const addresses = ['index.html', 'guides/attention.html', 'benchmarks/peers.html'];
const more = [
  'package/modules/qkv.html',
  'package/interfaces/qkv.Qkv.html',
  ...(hasCore ? ['core/index.html'] : []),
];
const fewer = [looks[3]];
if (!full) leaveToFullRun('three looks of each page of the documentation');

let server, browser;
before(async () => {
  server = await serve({ port: 0, later: [documentation(() => undefined)] });
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.close();
});

/** Opens pages one after the other in a tab, and tells what went wrong on each. */
async function inTab(options, body) {
  const { width = 390, ...rest } = options;
  const context = await browser.newContext({ viewport: { width, height: 844 }, ...rest });
  context.setDefaultTimeout(PATIENCE.wait);
  const page = await context.newPage();
  const problems = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) problems.push(message.text());
  });
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('response', (response) => {
    if (response.status() >= 400) problems.push(`${response.status()} ${response.url()}`);
  });
  page.on('request', (request) => {
    const { protocol } = new URL(request.url());
    if (!request.url().startsWith(server.url) && protocol !== 'data:') problems.push(request.url());
  });
  try {
    await body(page, (address) => page.goto(`${server.url}docs/${address}`));
    assert.deepEqual(problems, []);
  } finally {
    await context.close();
  }
}

/** How much wider than the screen a page is, and what stands out most. */
const overflow = (page) =>
  page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    return scrollWidth - clientWidth;
  });

const isShown = (page) => page.waitForFunction(() => document.body.style.display !== 'none');

for (const look of looks) {
  const { width, colorScheme } = look;
  test(`site: ${width} px, ${colorScheme}: no errors, nothing from elsewhere, axe finds nothing`, async () => {
    const asked = full || fewer.includes(look) ? addresses : addresses.slice(0, 1);
    await inTab(look, async (page, open) => {
      for (const address of asked) {
        await open(address);
        await isShown(page);
        assert.deepEqual(await violations(page), [], address);
        assert.equal(await overflow(page), 0, `${address} is wider than the screen`);
      }
      if (full || look === looks[1]) {
        for (const address of more) {
          await open(address);
          await isShown(page);
          assert.equal(await overflow(page), 0, `${address} is wider than the screen`);
        }
      }
    });
  });
}

test('site: each theme has its own colours, in both halves, and the reader may choose', async () => {
  const paper = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const halves = ['index.html', ...(hasCore ? ['core/index.html'] : [])];
  for (const address of halves) {
    const seen = [];
    for (const colorScheme of themes) {
      await inTab({ colorScheme }, async (page, open) => {
        await open(address);
        seen.push(await paper(page));
        await page.evaluate((theme) => localStorage.setItem('tsd-theme', theme), 'dark');
        await page.reload();
        seen.push(await paper(page));
      });
    }
    const [light, chosen, dark, same] = seen;
    assert.notEqual(light, dark, address);
    assert.deepEqual([chosen, same], [dark, dark], address);
  }
});

test('site: by keyboard the text is one step away, and a wide table is scrolled', async () => {
  await inTab({ width: 390 }, async (page, open) => {
    await open('benchmarks/peers.html');
    await isShown(page);
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate(() => document.activeElement.className), 'skip');
    await page.keyboard.press('Enter');
    assert.equal(await page.evaluate(() => document.activeElement.id), 'content');
    const table = page.locator('.scroll').first();
    await table.focus();
    await page.keyboard.press('ArrowRight');
    await page.waitForFunction(() => document.activeElement.scrollLeft > 0);
  });
});

test('site: without script it can be read, and one page leads to the next', async () => {
  await inTab({ width: 390, javaScriptEnabled: false }, async (page, open) => {
    await open('index.html');
    assert.ok(await page.isVisible('h1'));
    const plain = page.locator('.plain');
    assert.ok(await plain.isVisible(), 'the pages are listed');
    await plain.locator('a', { hasText: 'Attention by hand' }).click();
    assert.match(await page.textContent('h1'), /Attention by hand/);
    assert.ok(await page.isVisible('.tsd-typography pre'));
    if (!hasCore) return;
    await page.click('.bar a:has-text("C++")');
    assert.match(await page.textContent('.title'), /The C\+\+ library/);
  });
});
