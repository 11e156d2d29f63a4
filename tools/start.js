// npm start: builds what the page needs and serves it.
import { buildPackage, buildPage, buildWasm } from './build.js';
import { serve } from './serve.js';

try {
  await buildWasm();
  await buildPackage();
  await buildPage();
  const { url } = await serve();
  console.log(`\nqkv is at ${url} (Ctrl+C stops it)`);
} catch (error) {
  console.error(String(error.message ?? error));
  process.exitCode = 1;
}
