// npm start: builds what the page needs and serves it, with the documentation, which is built when somebody asks for it.
import { buildPackage, buildPage, buildWasm } from './build.js';
import { buildDocs } from './docs.js';
import { serve } from './serve.js';

try {
  await buildWasm();
  await buildPackage();
  await buildPage();
  const { url } = await serve({ buildDocs });
  console.log(`\nqkv is at ${url} (Ctrl+C stops it)`);
} catch (error) {
  console.error(String(error.message ?? error));
  process.exitCode = 1;
}
