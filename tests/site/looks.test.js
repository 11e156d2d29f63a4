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
  'package/functions/qkv.attention.html',
  'package/methods/qkv_models.LanguageModel.generate.html',
  'cookbook/chat.html',
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

test('site: on a phone the bar is one line, and the part that is read is in sight', async () => {
  const parts = ['index.html', 'guides/attention.html', 'project/examples.html'];
  for (const address of [...parts, ...(hasCore ? ['core/index.html'] : [])]) {
    await inTab({ width: 390 }, async (page, open) => {
      await open(address);
      await isShown(page);
      const { lines, height, isInSight } = await page.evaluate(() => {
        const links = [...document.querySelectorAll('.bar a')].map((link) =>
          link.getBoundingClientRect(),
        );
        const bar = document.querySelector('.bar').getBoundingClientRect();
        const here = document.querySelector('.bar [aria-current]').getBoundingClientRect();
        return {
          lines: new Set(links.map(({ top }) => Math.round(top))).size,
          height: document.querySelector('.top').getBoundingClientRect().height,
          isInSight: here.left >= bar.left - 1 && here.right <= bar.right + 1,
        };
      });
      assert.equal(lines, 1, address);
      assert.ok(height <= 48, `${address}: ${height} px`);
      assert.ok(isInSight, address);
    });
  }
});

/** What is chosen in the search, and the groups that are shown. */
const searched = (page) =>
  page.evaluate(() => ({
    isOpen: document.getElementById('search')?.open ?? false,
    groups: [...document.querySelectorAll('.search-group')].map(({ textContent }) => textContent),
    chosen: document.querySelector('#search [aria-selected=true]')?.href,
  }));
const whenFound = (page) => page.waitForSelector('#search [role=option]');

test('site: the search of both halves by keyboard: / opens it, arrows choose, Enter goes there, Escape closes', async () => {
  for (const address of ['guides/attention.html', ...(hasCore ? ['core/index.html'] : [])]) {
    await inTab({ width: 390 }, async (page, open) => {
      await open(address);
      await isShown(page);
      await page.keyboard.press('/');
      await page.keyboard.type('gguf');
      await whenFound(page);
      const first = await searched(page);
      assert.ok(first.isOpen);
      assert.deepEqual(first.groups.slice(0, 2), ['Guides', 'JavaScript']);
      assert.match(first.chosen, /guides\/model-files\.html#gguf$/);
      const field = page.locator('#search-field');
      await page.keyboard.press('ArrowDown');
      const second = await searched(page);
      assert.notEqual(second.chosen, first.chosen);
      const active = await field.getAttribute('aria-activedescendant');
      assert.equal(await page.locator(`#${active}`).getAttribute('aria-selected'), 'true');
      assert.deepEqual(await violations(page), [], address);
      assert.equal(await overflow(page), 0, 'the dialog is wider than the screen');
      await page.keyboard.press('ArrowUp');
      await page.keyboard.press('Escape');
      assert.equal((await searched(page)).isOpen, false);
      await page.keyboard.press('Control+k');
      assert.ok((await searched(page)).isOpen, 'Ctrl+K opens it, too');
      await whenFound(page);
      await page.keyboard.press('Enter');
      await page.waitForURL(/guides\/model-files\.html#gguf$/);
    });
  }
});

test('site: the search of a page in Chinese speaks Chinese', async () => {
  await inTab({ width: 1280, colorScheme: 'dark' }, async (page, open) => {
    await open('cookbook/readme.zh-cn.html');
    await isShown(page);
    await page.click('#search-open');
    assert.equal(
      await page.getAttribute('#search-field', 'placeholder'),
      '搜索指南、JavaScript 和 C++',
    );
    await page.keyboard.type('注意力');
    await whenFound(page);
    assert.match((await searched(page)).chosen, /zh-cn\.html/);
    await page.fill('#search-field', 'zzqxv');
    await page.waitForFunction(() =>
      /没有找到/.test(document.getElementById('search').textContent),
    );
  });
});
