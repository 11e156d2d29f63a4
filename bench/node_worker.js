// node bench/node_worker.js <function of session.js> <its argument as JSON>: the result as JSON, on
// the last line.
import * as session from './session.js';

const [job, argument] = process.argv.slice(2);
try {
  const result = await session[job](JSON.parse(argument));
  process.stdout.write(`\n${JSON.stringify(result)}\n`, () => process.exit(0));
} catch (error) {
  console.error(error.stack ?? String(error));
  process.exit(1);
}
