// Pictures of every panel in each look, and the small ones that are kept of them.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { crc32, deflateSync } from 'node:zlib';
import { openPage, panels, set, settle, visit } from './page.js';

/** Other looks of a panel, each with what brings it about; those of `map` and `row` follow on each other. */
const STATES = {
  arcs: ['map', { look: 'arcs' }],
  scores: ['map', { look: 'map', source: 'random', show: 'scores' }],
  broken: ['row', { rowScale: 400, rowMax: false }],
};

/** The model of names under the microscope, with its maps. */
export async function takeApart(page) {
  await visit(page, 'microscope');
  await page.click('#microscope [data-do=load]');
  await page.waitForSelector('#microscope .maps:enabled');
  await page.click('#microscope .maps');
  await page.waitForSelector('#microscope [data-map=z]');
  await settle(page);
}

const HEIGHTS = { 390: 844, 1280: 900 };
/** Of a window that has most panels whole. */
const WHOLE = 4200;

/** What a clock or a processor decides must not decide how the page looks. */
const MEASURED = '[data-reading] dd, .engine-text, .check-note';

/** How long what was drawn in a worker may take to reach the screen of a busy machine, in ms. */
const LATE = 3000;

/**
 * Brings the panel to the upper edge of the window, on a whole pixel, as letters between two pixels look different; says how far down the page
 * it is, and where in the window. A picture is of what the window holds: for more than that Chromium lays out the page anew, and panels above
 * may change their height.
 */
const place = (panel) => {
  panel.style.position = 'relative';
  panel.style.top = '0';
  const down = panel.getBoundingClientRect().top + scrollY;
  panel.style.top = `${Math.ceil(down) - down}px`;
  scrollTo(0, Math.ceil(down));
  const { x, y, width, height } = panel.getBoundingClientRect();
  return { down, clip: { x, y, width, height: Math.min(height, innerHeight - y) } };
};

/** Where the panel is in the window, when what is above it has its height. */
async function placed(page, panel) {
  let found = await panel.evaluate(place);
  for (let before = NaN; before !== found.down;) {
    before = found.down;
    await settle(page);
    found = await panel.evaluate(place);
  }
  return found.clip;
}

/**
 * Calls back with { name, png, again } of every picture in a look; `name` says panel, language, theme and width, and
 * again() takes the picture once more, a little later.
 */
export async function photograph(site, look, each) {
  const { locale, colorScheme, width } = look;
  const height = HEIGHTS[width];
  const { page, close } = await openPage(site, { ...look, height });
  const take = async (what, of) => {
    await page.evaluate((selector) => {
      for (const element of document.querySelectorAll(selector)) {
        element.style.visibility = 'hidden';
      }
    }, MEASURED);
    const shoot = async () => {
      const clip = of === page ? undefined : await placed(page, of);
      return page.screenshot({ clip, animations: 'disabled', caret: 'hide' });
    };
    const again = async () => {
      await page.waitForTimeout(LATE);
      return shoot();
    };
    const name = `${what}-${locale.slice(0, 2)}-${colorScheme}-${width}`;
    await each({ name, png: await shoot(), again });
  };
  const panel = async (name, id) => {
    await visit(page, id);
    await take(name, page.locator(`#${id}`));
  };
  try {
    await settle(page);
    await take('first', page);
    if (width < 600) {
      await page.click('.unfold');
      await take('unfolded', page);
      await page.click('.unfold');
    }
    await page.setViewportSize({ width, height: WHOLE });
    // It would cover the top of a panel.
    await page.evaluate(() => {
      document.querySelector('qkv-instruments').style.visibility = 'hidden';
    });
    for (const id of panels) await panel(id, id);
    for (const [name, [id, patch]] of Object.entries(STATES)) {
      await set(page, patch);
      await panel(name, id);
    }
    // Last, as the other panels would show the model, too.
    await takeApart(page);
    await panel('apart', 'microscope');
    await set(page, { microscopeZoom: [0, 3] });
    await page.waitForSelector('.pass-inside:not([hidden])');
    await settle(page);
    await take('apart-head', page.locator('qkv-microscope-pass'));
  } finally {
    await close();
  }
}

// ---- small pictures ----

/** A pixel of a small picture is the mean of this many squared, and has this many levels of each colour. */
const SHRINK = 4;
const LEVELS = 16;

/** A picture as { width, height, rgb } with `shrink` squared pixels made into one; `page` is any page. */
export async function pixelsOf(page, png, shrink = SHRINK) {
  const { width, height, base64 } = await page.evaluate(
    async ([source, side]) => {
      const bytes = Uint8Array.from(atob(source), (character) => character.charCodeAt(0));
      const bitmap = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
      const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d');
      context.drawImage(bitmap, 0, 0);
      const { data } = context.getImageData(0, 0, bitmap.width, bitmap.height);
      const width = Math.floor(bitmap.width / side);
      const height = Math.floor(bitmap.height / side);
      const sums = new Float64Array(width * height * 3);
      for (let y = 0; y < height * side; y++) {
        for (let x = 0; x < width * side; x++) {
          const to = 3 * (Math.floor(y / side) * width + Math.floor(x / side));
          for (let c = 0; c < 3; c++) sums[to + c] += data[4 * (y * bitmap.width + x) + c];
        }
      }
      let text = '';
      for (const sum of sums) text += String.fromCharCode(Math.round(sum / side ** 2));
      return { width, height, base64: btoa(text) };
    },
    [png.toString('base64'), shrink],
  );
  return { width, height, rgb: Buffer.from(base64, 'base64') };
}

function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const whole = Buffer.alloc(body.length + 8);
  whole.writeUInt32BE(data.length, 0);
  body.copy(whole, 4);
  whole.writeUInt32BE(crc32(body), body.length + 4);
  return whole;
}

/** A PNG of { width, height, rgb }. */
export function pngOf({ width, height, rgb }) {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, 0], 8); // eight bits of red, green and blue
  const rows = Array.from({ length: height }, (_, y) =>
    Buffer.concat([Buffer.from([0]), rgb.subarray(3 * width * y, 3 * width * (y + 1))]),
  );
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.concat(rows), { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

const STEP = 255 / (LEVELS - 1);

/** With the few colours of what is kept. */
const posterised = ({ rgb, ...size }) => ({
  ...size,
  rgb: rgb.map((value) => Math.round(Math.round(value / STEP) * STEP)),
});

const folder = new URL('../baselines/', import.meta.url);
const fileOf = (name) => new URL(`${name}.png`, folder);

/** The names of the pictures that are kept. */
export const keptNames = () => readdirSync(folder).map((file) => file.replace(/\.png$/, ''));
export const readKept = (name) => readFileSync(fileOf(name));

/** Keeps these small pictures, by name, and no others. */
export function keep(pictures) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  for (const [name, picture] of pictures) writeFileSync(fileOf(name), pngOf(posterised(picture)));
}

/**
 * By how much a colour of a pixel may differ: half a step, which posterising takes, and what one of its sixteen
 * pixels adds when it turns from black to white, as the edge of a letter may. And how many pixels may differ by more:
 * the digits of some errors of rounding, which follow from how the processor multiplies and adds.
 *
 * Tried on phones in English: cards with 36 px of padding for 24 differ in 17 to 27 % of their pixels, links and
 * sliders of another blue (#0060da for #00609a) in 0.35 to 0.81 %, and both are found. A hatching darkened from
 * #c9c5b9 to #a9a599, and a single sign 12 px lower, are not.
 */
const MAY = { colour: STEP / 2 + 255 / SHRINK ** 2, pixels: 150 };

/** How a small picture differs from the kept one, in words, and where: a picture. Null where it does not. */
export function differenceOf(kept, now) {
  const [width, height] = ['width', 'height'].map((side) => Math.max(kept[side], now[side]));
  const at = (picture, x, y) =>
    x < picture.width && y < picture.height ? 3 * (y * picture.width + x) : -1;
  const rgb = Buffer.alloc(3 * width * height, 255);
  let count = 0;
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const [a, b] = [at(kept, x, y), at(now, x, y)];
      const off = [0, 1, 2].map((c) => Math.abs(kept.rgb[a + c] - now.rgb[b + c]));
      const differs = a < 0 || b < 0 || Math.max(...off) > MAY.colour;
      if (differs) count++;
      const grey = b < 0 ? 255 : 170 + now.rgb[b + 1] / 3; // pale, so that the red stands out
      rgb.set(differs ? [220, 0, 0] : [grey, grey, grey], 3 * (y * width + x));
    }
  }
  const size = ({ width, height }) => `${width * SHRINK} x ${height * SHRINK}`;
  const resized = size(kept) === size(now) ? '' : `, from ${size(kept)} to ${size(now)}`;
  if (count <= MAY.pixels) return null;
  const share = count / (width * height);
  return {
    words: `${(100 * share).toFixed(2)} % of it${resized}`,
    picture: { width, height, rgb },
  };
}
