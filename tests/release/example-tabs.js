// Tabs of Chromium and of Firefox for the tests of examples/, with what playwright and puppeteer have in common.
import { after, test } from 'node:test';
import { launch as launchChromium } from '../support/js/chromium.js';
import { launch as launchFirefox } from '../support/js/firefox.js';
import { PATIENCE, until } from '../support/js/patience.js';
import { firefox } from '../support/js/programs.js';

const launchers = { Chromium: launchChromium, Firefox: launchFirefox };
const browsers = new Map();
after(() => Promise.all([...browsers.values()].map((browser) => browser.close())));

/** A test in Chromium or Firefox; the tests of a file share the browser. */
export const testIn = (name, title, body) =>
  test(`examples: ${title}, in ${name}`, { skip: name === 'Firefox' && !firefox }, async (t) => {
    if (!browsers.has(name)) browsers.set(name, await launchers[name]());
    await body(browsers.get(name), t);
  });

/** Opens a page: its tab, what the browser complains about, and how to close it. */
export async function openTab(browser, url) {
  const context = await browser.newContext();
  const tab = await context.newPage();
  tab.setDefaultTimeout(PATIENCE.wait);
  const complaints = [];
  tab.on('pageerror', (error) => complaints.push(error.message ?? String(error)));
  tab.on('console', (message) => {
    if (['error', 'warning', 'warn'].includes(message.type())) complaints.push(message.text());
  });
  await tab.goto(url);
  return { tab, complaints, close: () => context.close() };
}

/** Waits until a step of a lesson is there with its panel, and has nothing left to compute. */
export const arrive = (frame, step) =>
  until(
    () =>
      frame.evaluate((name) => {
        const current = document.querySelector('.lesson-step.current');
        const panels = [...(current?.querySelectorAll('section[id] > [data-panel]') ?? [])];
        return (
          panels.length > 0 &&
          panels.every((panel) => customElements.get(panel.localName)) &&
          current.querySelector('h2').textContent.startsWith(name) &&
          globalThis.__qkv.settled()
        );
      }, `${step}. `),
    () => `step ${step} of the lesson in ${frame.url()}`,
  );

/** The frame of a page that has a lesson, at its first step; the frame waits until it is seen. */
export async function lessonIn(tab) {
  await tab.evaluate(() => document.querySelector('iframe').scrollIntoView());
  const find = () => tab.frames().find((frame) => frame.url().includes('?embed=lesson'));
  await until(
    () => find() !== undefined,
    () => `a frame with a lesson: ${tab.frames().map((frame) => frame.url())}`,
  );
  await arrive(find(), 1);
  return find();
}

/** Presses Tab until the place for an answer has the focus, as a reader without a mouse does. */
export const tabTo = (tab, frame, selector) =>
  until(
    async () => {
      await tab.keyboard.press('Tab');
      return frame.evaluate((wanted) => document.activeElement.matches(wanted), selector);
    },
    () => `the focus on ${selector}`,
  );

const exercise = (at) => `.lesson-step.current .lesson-exercises li:nth-child(${at + 1})`;

/** What the lesson says to what `act` does with an exercise, the first place for an answer being focused; not what it said before. */
async function verdict(frame, at, act) {
  const selector = `${exercise(at)} .verdict`;
  const said = () =>
    frame.evaluate((wanted) => document.querySelector(wanted).textContent, selector);
  const before = await said();
  await frame.focus(`${exercise(at)} input`);
  await act();
  await until(
    async () => (await said()) !== before,
    () => `an answer to exercise ${at}`,
  );
  return said();
}

/** Types an answer and presses Enter: what the lesson says to it. */
export const answer = (tab, frame, at, typed) =>
  verdict(frame, at, async () => {
    await frame.evaluate(() => document.activeElement.select());
    await tab.keyboard.type(typed);
    await tab.keyboard.press('Enter');
  });

/** Chooses one of several answers: what the lesson says to it. */
export const choose = (frame, at, choice) =>
  verdict(frame, at, () =>
    frame.evaluate((choice) => {
      const form = document.activeElement.form;
      form.querySelectorAll('input')[choice].click();
      form.requestSubmit();
    }, choice),
  );
