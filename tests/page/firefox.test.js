// The page in Firefox.
import { after, before } from 'node:test';
import { serve } from '../../tools/serve.js';
import { launch, openPage } from './support/firefox.js';
import { testsOfEngine } from './support/other_engines.js';

let site;
before(async () => {
  const [server, browser] = [await serve({ port: 0 }), await launch()];
  site = { server, browser };
});
after(async () => {
  await site?.browser.close();
  await site?.server.close();
});

testsOfEngine('Firefox', async ({ fragment = '', ...options }) => {
  const tab = await openPage(site.browser, site.server.url + fragment, options);
  return { ...tab, problems: () => tab.problems };
});
