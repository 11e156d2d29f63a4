// Runs suites and says what came of them. A suite is what tools/suites.js says it is.

/** What failed, each with its lines of TAP; of other output the end, where runners put what matters. */
function failures(output) {
  const lines = output.trimEnd().split('\n');
  const blocks = [];
  for (const [i, line] of lines.entries()) {
    if (!/^\s*not ok /.test(line)) continue;
    const end = lines.findIndex((other, j) => j > i && other.trim() === '...');
    blocks.push(...lines.slice(i, end < 0 ? i + 30 : Math.min(end, i + 30)));
  }
  return blocks.length > 0 ? blocks.slice(0, 300) : lines.slice(-120);
}

const indented = (lines) => lines.map((line) => `    ${line}`).join('\n');

/** The names of failed tests, again where the eye goes first; the last lines where there are no names. */
function recall({ name, output = '' }) {
  const lines = failures(output);
  const names = lines.filter((line) => /^\s*not ok /.test(line)).map((line) => line.trim());
  console.log(`\nfailed: ${name}\n${indented(names.length > 0 ? names : lines.slice(-20))}`);
}

async function runSuite(suite) {
  const start = performance.now();
  process.stdout.write(`${suite.name} ... `);
  let result;
  try {
    result = await suite.run();
  } catch (error) {
    result = { passed: 0, failed: 1, output: error.stack ?? String(error) };
  }
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  const note = result.note ? ` (${result.note})` : '';
  console.log(`${result.passed} passed, ${result.failed} failed, ${seconds} s${note}`);
  if (result.table) console.log(result.table);
  if (result.failed > 0) console.log(indented(failures(result.output ?? '')));
  return { name: suite.name, seconds, ...result };
}

function summarise(results) {
  const width = Math.max(...results.map(({ name }) => name.length));
  console.log('\nwhat ran'.padEnd(width + 3) + 'passed  failed  seconds');
  for (const { name, passed, failed, seconds, note = '' } of results) {
    const numbers = [passed, failed].map((n) => String(n).padStart(6)).join('  ');
    console.log(`${name.padEnd(width + 2)}${numbers}  ${seconds.padStart(7)}  ${note}`);
  }
  results.filter(({ failed }) => failed > 0).forEach(recall);
  const sum = (key) => results.reduce((n, result) => n + result[key], 0);
  console.log(`\n${sum('passed')} passed, ${sum('failed')} failed`);
  return sum('failed') === 0 && sum('passed') > 0;
}

/** Runs suites one after the other and sums them up; whether all of them passed. */
export async function report(suites) {
  const results = [];
  for (const suite of suites) results.push(await runSuite(suite));
  return summarise(results);
}
