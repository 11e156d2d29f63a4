// npm test: builds, runs every suite (or the groups named, see tools/suites.js) and ends with a summary
// and one line that sums it up.
import { buildNative, buildPackage, buildPage, buildWasm } from './build.js';
import { report } from './report.js';

async function main(groups) {
  await buildNative();
  await buildWasm({ tests: true });
  await buildPackage();
  await buildPage();
  console.log();
  // Imported late: the list of suites is read off the build.
  const { suites } = await import('./suites.js');
  const all = await suites();
  const unknown = groups.filter((group) => !(group in all));
  if (unknown.length > 0) {
    throw new Error(`unknown group ${unknown.join(', ')}, expected ${Object.keys(all).join(', ')}`);
  }
  return report((groups.length > 0 ? groups : Object.keys(all)).flatMap((group) => all[group]));
}

main(process.argv.slice(2)).then(
  (green) => (process.exitCode = green ? 0 : 1),
  (error) => {
    console.error(String(error.message ?? error));
    console.log('0 passed, 1 failed');
    process.exitCode = 1;
  },
);
