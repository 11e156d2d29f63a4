// Writes a picture of every panel into build/screenshots: for people to look at before they change how the
// page looks. With --baselines what screenshots.test.js compares with is written anew, too. With --docs the pictures of the
// READMEs are, and nothing else.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../support/js/files.js';
import { PICTURED, startSite } from './support/page.js';
import { looks } from './support/panel.js';
import { keep, photograph, pixelsOf } from './support/photographs.js';
import { showcase } from './support/showcase.js';

/** Every panel in each look. */
async function panels(site) {
  const folder = join(root, 'build/screenshots');
  mkdirSync(folder, { recursive: true });
  const decoder = await site.browser.newPage();
  const small = new Map();
  const taken = looks.map((look) =>
    photograph(site, look, async ({ name, png }) => {
      writeFileSync(join(folder, `${name}.png`), png);
      small.set(name, await pixelsOf(decoder, png));
    }),
  );
  await Promise.all(taken);
  console.log(`${small.size} written to ${folder}`);
  if (process.argv.includes('--baselines')) {
    keep(small);
    console.log(`${small.size} baselines`);
  }
}

/** What the READMEs show. */
async function docs(site) {
  for (const [name, png] of Object.entries(await showcase(site))) {
    writeFileSync(join(root, 'web/docs', name), png);
    console.log(`web/docs/${name}: ${Math.round(png.length / 1000)} kB`);
  }
}

const site = await startSite(PICTURED);
try {
  await (process.argv.includes('--docs') ? docs(site) : panels(site));
} finally {
  await site.close();
}
