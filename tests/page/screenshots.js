// Writes a picture of every panel into build/screenshots: for people to look at before they change how the
// page looks. With --baselines what screenshots.test.js compares with is written anew, too.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../support/js/files.js';
import { startSite } from './support/page.js';
import { looks } from './support/panel.js';
import { keep, photograph, pixelsOf } from './support/photographs.js';

const folder = join(root, 'build/screenshots');
const site = await startSite();
mkdirSync(folder, { recursive: true });
try {
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
} finally {
  await site.close();
}
