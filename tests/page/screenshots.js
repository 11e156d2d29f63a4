// Writes a picture of every panel into build/screenshots: for people to look at before they change how the
// page looks. With --baselines what page-screenshots.test.js compares with is written anew, too.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../support/js/files.js';
import { startSite } from './support/page.js';
import { baselines, digest, photograph } from './support/photographs.js';

const folder = join(root, 'build/screenshots');
const site = await startSite();
mkdirSync(folder, { recursive: true });
try {
  const decoder = await site.browser.newPage();
  const kept = {};
  await photograph(site, async ({ name, png }) => {
    writeFileSync(join(folder, `${name}.png`), png);
    kept[name] = await digest(decoder, png);
  });
  console.log(`written to ${folder}`);
  if (process.argv.includes('--baselines')) {
    const lines = Object.entries(kept).map((entry) =>
      entry.map((e) => JSON.stringify(e)).join(':'),
    );
    writeFileSync(baselines, `{\n${lines.join(',\n')}\n}\n`); // a line each, so that a diff names what moved
    console.log(`${lines.length} baselines`);
  }
} finally {
  await site.close();
}
