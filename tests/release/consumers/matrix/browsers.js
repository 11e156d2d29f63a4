// The browsers of the matrix, and how a project gets into them.
import { existsSync } from 'node:fs';
import { launch as launchChromium, reportOf } from '../../../support/js/chromium.js';
import { launch as launchFirefox } from '../../../support/js/firefox.js';
import { launchSafari } from '../../../support/js/webdriver.js';
import { chromium, firefox } from '../../../support/js/programs.js';
import { folder, serve } from '../../../support/js/server.js';

const programs = [
  ['Chromium', launchChromium, chromium],
  ['Firefox', launchFirefox, firefox],
  // Only where the variable says that it may be driven.
  ...(process.env.SAFARIDRIVER ? [['Safari', launchSafari, process.env.SAFARIDRIVER]] : []),
];

/** Starts every browser that is here: { open, openFolder, missing, close }. */
export async function startBrowsers() {
  const browsers = [];
  for (const [name, launch, path] of programs) {
    if (existsSync(path)) browsers.push([name, await launch()]);
  }
  const present = browsers.map(([name]) => name);

  /**
   * Opens a page in each of them: what it reports, and where. A page that throws has failed; one that reports nothing is
   * opened once more in browsers that `again` names.
   */
  async function open(url, { again = [] } = {}) {
    const ran = [];
    for (const [name, browser] of browsers) {
      const where = `${name} ${parseInt(browser.version())}`;
      const complaints = [];
      const ask = () => reportOf(browser, url, { timeout: 60_000, complaints });
      const askAgain = (error) => {
        if (!again.includes(name) || !error.message.endsWith('no report')) throw error;
        console.log(`${url} hung in ${where}, and is opened once more`);
        return ask();
      };
      const report = await ask()
        .catch(askAgain)
        .catch(({ message }) => ({ error: `${message} ${complaints.join('; ')}` }));
      ran.push({ where, report, complaints });
    }
    return ran;
  }

  return {
    open,

    /** The same for the index.html of a folder, or another page there, behind a static server. */
    async openFolder(path, { page = '/', headers, again } = {}) {
      const files = folder(path, headers);
      const server = await serve((name) =>
        name === '/favicon.ico' ? { status: 204 } : files(name === '/' ? '/index.html' : name),
      );
      try {
        return await open(`${server.url}${page}`, { again });
      } finally {
        await server.close();
      }
    },

    missing: programs.map(([name]) => name).filter((name) => !present.includes(name)),
    close: () => Promise.all(browsers.map(([, browser]) => browser.close())),
  };
}
