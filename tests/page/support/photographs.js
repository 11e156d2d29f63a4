// Pictures of every panel in both languages and themes, on a phone and on a laptop, and what is kept of them.
import { readFileSync } from 'node:fs';
import { openPage, set, settle, visit } from './page.js';

const WIDTHS = [
  [390, 844],
  [1280, 900],
];

/** The panels as the build took them from web/src/panels/table.ts. */
const panelsOf = (page) =>
  page.evaluate(() => [...document.querySelectorAll('main > section[id]')].map(({ id }) => id));

/** Changes the state, brings the panel onto the screen and waits for what the worker paints a moment later. */
async function show(page, id, patch = {}) {
  await set(page, patch);
  await visit(page, id);
  await page.waitForTimeout(100);
}

/** Other looks of a panel, each with what brings it about; those of `map` and `row` follow on each other. */
const LOOKS = {
  arcs: ['map', { look: 'arcs' }],
  scores: ['map', { look: 'map', source: 'random', show: 'scores' }],
  broken: ['row', { rowScale: 400, rowMax: false }],
};

/**
 * Calls back with { name, png, again } of every picture there is; `name` says panel, language, theme and width, and
 * `again` takes it once more.
 */
export async function photograph(site, each) {
  for (const locale of ['en-US', 'zh-CN']) {
    for (const colorScheme of ['light', 'dark']) {
      for (const [width, height] of WIDTHS) {
        await photographOne(site, { locale, colorScheme, width, height }, each);
      }
    }
  }
}

async function photographOne(site, { locale, colorScheme, width, height }, each) {
  const { page, close } = await openPage(site, { locale, colorScheme, width, height });
  const take = async (what, of, options) => {
    const again = () => of.screenshot({ animations: 'disabled', ...options });
    const name = `${what}-${locale.slice(0, 2)}-${colorScheme}-${width}`;
    await each({ name, png: await again(), again });
  };
  try {
    await settle(page);
    await take('first', page);
    if (width < 600) {
      await page.click('.unfold');
      await take('unfolded', page);
      await page.click('.unfold');
    }
    await page.setViewportSize({ width, height: 2400 }); // so that every panel is whole
    for (const id of await panelsOf(page)) {
      await show(page, id);
      await take(id, page.locator(`#${id}`));
    }
    for (const [look, [id, patch]] of Object.entries(LOOKS)) {
      await show(page, id, patch);
      await take(look, page.locator(`#${id}`));
    }
  } finally {
    await close();
  }
}

// ---- what is kept ----

export const baselines = new URL('../baselines.json', import.meta.url);
export const readBaselines = () => JSON.parse(readFileSync(baselines, 'utf8'));

/**
 * Pixels of a block's side. Only the mean brightness of each is kept, as one of 16 greys: a picture takes one
 * to three kB instead of a hundred, and stays the same where another font draws the same words. The price: what
 * moves by less than a block, or changes colour at the same brightness in a small place, is not seen.
 */
const BLOCK = 24;

/** What is kept of a picture; `page` is any page, for its decoder. */
export const digest = (page, png) =>
  page.evaluate(
    async ([base64, block]) => {
      const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
      const bitmap = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
      const { width, height } = bitmap;
      const context = new OffscreenCanvas(width, height).getContext('2d');
      context.drawImage(bitmap, 0, 0);
      const { data } = context.getImageData(0, 0, width, height);
      const cols = Math.ceil(width / block);
      const rows = Math.ceil(height / block);
      const sums = new Float64Array(cols * rows);
      const counts = new Float64Array(cols * rows);
      const mean = [0, 0, 0];
      for (let y = 0, at = 0; y < height; y++) {
        for (let x = 0; x < width; x++, at += 4) {
          const to = Math.floor(y / block) * cols + Math.floor(x / block);
          sums[to] += 0.2126 * data[at] + 0.7152 * data[at + 1] + 0.0722 * data[at + 2];
          counts[to]++;
          for (let c = 0; c < 3; c++) mean[c] += data[at + c] / (width * height);
        }
      }
      const grey = (sum, i) => Math.round(sum / counts[i] / 17).toString(16);
      return { cols, rows, mean: mean.map(Math.round), blocks: Array.from(sums, grey).join('') };
    },
    [png.toString('base64'), BLOCK],
  );

/** A picture of a digest, for people. */
export const pictureOf = async (page, { cols, rows, blocks }) => {
  const base64 = await page.evaluate(
    async ([width, height, greys, block]) => {
      const canvas = new OffscreenCanvas(width * block, height * block);
      const context = canvas.getContext('2d');
      [...greys].forEach((grey, at) => {
        context.fillStyle = `#${grey.repeat(6)}`;
        context.fillRect((at % width) * block, Math.floor(at / width) * block, block, block);
      });
      const bytes = new Uint8Array(await (await canvas.convertToBlob()).arrayBuffer());
      return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
    },
    [cols, rows, blocks, BLOCK],
  );
  return Buffer.from(base64, 'base64');
};

/** The share of blocks that may differ, the greys by which they then do, and what sizes and colours may. */
const TOLERANCE = { share: 0.04, greys: 1, rows: 2, mean: 6 };

/** How two digests differ, in words; empty when they do not. */
export function differences(before, after) {
  const problems = [];
  if (before.cols !== after.cols || Math.abs(before.rows - after.rows) > TOLERANCE.rows) {
    problems.push(
      `was ${before.cols} x ${before.rows} blocks and is ${after.cols} x ${after.rows}`,
    );
  }
  const share = Math.max(strange(before, after), strange(after, before));
  if (share > TOLERANCE.share) problems.push(`${(100 * share).toFixed(1)} % of its blocks differ`);
  const off = before.mean.map((value, c) => Math.abs(value - after.mean[c]));
  if (Math.max(...off) > TOLERANCE.mean) {
    problems.push(`its mean colour was ${before.mean} and is ${after.mean}`);
  }
  return problems;
}

/** The share of blocks of `a` that have no like among the neighbours of their place in `b`. */
function strange(a, b) {
  const grey = ({ blocks, cols, rows }, row, col) =>
    row < 0 || col < 0 || row >= rows || col >= cols ? NaN : parseInt(blocks[row * cols + col], 16);
  let count = 0;
  for (let row = 0; row < a.rows; row++) {
    for (let col = 0; col < a.cols; col++) {
      const wanted = grey(a, row, col);
      const like = [-1, 0, 1].some((down) =>
        [-1, 0, 1].some(
          (right) => Math.abs(grey(b, row + down, col + right) - wanted) <= TOLERANCE.greys,
        ),
      );
      if (!like) count++;
    }
  }
  return count / (a.rows * a.cols);
}
