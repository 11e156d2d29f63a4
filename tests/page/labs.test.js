// @run full, or after changes in web/src/app/laboratories.ts web/src/features/load.ts web/src/features/load_inside.ts
// Panels with a worker of their own, in Chromium, on a network that fails for a while: what the reader is told, and that the same
// button works when the network is back, without loading the page again.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PATIENCE } from '../support/js/patience.js';
import * as support from './support/page.js';

const { site } = support.useSite();

/** What is pressed, where it is said how it stands, what of the network fails, and what is there when it has worked. */
const LABS = [
  ['learn', '[data-do=play]', '.learn-status', '**/qkv-train-*', /^Step \d/],
  ['recurrence', '[data-press=step]', '.recurrence-badge', '**/qkv-train-*', /1 /],
  ['block', '.block-run', '.block-status', '**/block.worker-*', /^$/],
  ['cost', '.bench-run', '.bench-status', '**/qkv-*.wasm', /\d+ of \d+/],
];
const FAILED =
  /A file that it needs could not be fetched\. Check the connection, then press the button again\.$/;

for (const [id, button, status, address, works] of LABS) {
  test(
    `${id}: what could not be fetched is fetched by the next press`,
    { timeout: PATIENCE.test },
    async () => {
      const { page, close } = await support.openPage(site());
      try {
        await support.settle(page);
        await support.visit(page, id);
        const panel = `qkv-panel-${id}`;
        const said = (pattern) =>
          page.waitForFunction(
            ([of, source]) => new RegExp(source).test(document.querySelector(of).textContent),
            [`${panel} ${status}`, pattern.source],
          );
        await page.route(address, (route) => route.abort());
        await page.click(`${panel} ${button}`);
        await said(FAILED);
        await page.click(`${panel} ${button}`);
        await said(FAILED);
        await page.unroute(address);
        await page.click(`${panel} ${button}`);
        await said(works);
        const text = await page.textContent(`${panel} ${status}`);
        assert.doesNotMatch(text, /could not be fetched/);
      } finally {
        await close();
      }
    },
  );
}
