// Runs a test program until it is red: of a mutant nothing more is asked than the first test that sees it.
import { end, start } from '../run.js';

/**
 * Resolves to { code, output, ms, late }: `red`, a regular expression, ends the program when a line of its output
 * matches, `signal` when nobody wants to know any more, `limit` after so many ms, and it then is `late`.
 */
export function untilRed(command, args, { red, limit, signal, ...where }) {
  return new Promise((resolve, reject) => {
    const from = performance.now();
    const child = start(command, args, where);
    let output = '';
    let late = false;
    let ending;
    const stop = () => void (ending ??= end([child])); // its output may go on for a while
    const timer = setTimeout(() => {
      late = true;
      stop();
    }, limit);
    signal?.addEventListener('abort', stop);
    const take = (data) => {
      output += data;
      if (red?.test(output)) stop();
    };
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    child.on('error', reject);
    child.on('close', (code) => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
      resolve({ code, output, late, ms: performance.now() - from });
    });
  });
}

/** A red test in TAP, with the block that says why. */
const RED = /^\s*not ok [\s\S]*?^\s*\.\.\.$/m;

/** The title of the first test that node:test says is red, the innermost one; undefined if there is none. */
const firstTitle = (output) => /^\s*not ok \d+ - (.*)$/m.exec(output)?.[1];

/** What node:test says of the error, in a few words. */
const firstError = (output) =>
  /^\s*error: (?:\|-\s*)?(.*(?:\n.*)?)/m.exec(output)?.[1].replace(/\s+/g, ' ');

/**
 * Runs one file of node:test in a process of its own, with `only` some of its tests. Resolves to { red, ms } with `red` what was
 * red, if anything was.
 */
export async function nodeTestFile(copy, file, { limit, signal, only = [], env = {} }) {
  const options = copy.here({ red: RED, limit, signal, env });
  const ran = await untilRed(process.execPath, ['--test-reporter=tap', ...only, file], options);
  const { code, output, late, ms } = ran;
  if (code === 0 && !/^not ok /m.test(output)) return { ms };
  const why = late
    ? `not done after ${limit / 1000} s`
    : (firstTitle(output) ?? `ended with ${code}`);
  return { ms, red: `${file}: ${why}`, error: firstError(output) ?? output.slice(-300), late };
}
