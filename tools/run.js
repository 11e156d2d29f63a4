// Runs commands and says how far things are.
import { spawn } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import { environment, root } from './environment.js';

/** How long a command may take to stop, in ms. */
const GRACE = 5_000;

/** Tells a command with all that it started to end; it may be gone already. */
function signal(child, name) {
  try {
    process.kill(-child.pid, name);
  } catch {
    // It is gone.
  }
}

/** Ends commands with all that they started: first with SIGTERM, so that they can end their own browsers, then with SIGKILL. */
export async function end(children) {
  const ended = children.map((child) => new Promise((resolve) => child.on('close', resolve)));
  for (const child of children) signal(child, 'SIGTERM');
  await Promise.race([Promise.all(ended), wait(GRACE)]);
  for (const child of children) signal(child, 'SIGKILL');
}

// Who ends this process ends what it runs: groups of their own would go on, and so would what is begun while others end.
const running = new Set();
async function endAll() {
  await end([...running]);
  for (const child of running) signal(child, 'SIGKILL');
  process.exit(1);
}
for (const name of ['SIGINT', 'SIGTERM']) process.once(name, () => void endAll());

/** Starts a command in a process group of its own, which ends with this process. Its output is to be read. */
export function start(command, args, { env = {}, cwd = root } = {}) {
  const child = spawn(command, args, {
    cwd,
    env: { ...environment, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  running.add(child);
  child.on('close', () => running.delete(child));
  return child;
}

/**
 * Runs a command from the root of the project, its output collected. Resolves to { code, output,
 * stdout, hung }; rejects only when it cannot be started. After `timeout` ms it is ended with all that it started:
 * then `hung` is true and `code` null.
 */
export function run(command, args, { timeout, ...where } = {}) {
  return new Promise((resolve, reject) => {
    const child = start(command, args, where);
    let output = '';
    let stdout = '';
    let hung = false;
    const timer =
      timeout &&
      setTimeout(() => {
        hung = true;
        void end([child]);
      }, timeout);
    child.stdout.on('data', (data) => {
      output += data;
      stdout += data;
    });
    child.stderr.on('data', (data) => (output += data));
    child.on('error', reject);
    child.on('close', (code) => {
      clearTimeout(timer);
      resolve({ code: hung ? null : code, output, stdout, hung });
    });
  });
}

/** run() that throws with the command's output when it fails. */
export async function must(command, args, options) {
  const result = await run(command, args, options);
  if (result.code !== 0) {
    const line = [command, ...args].join(' ');
    const how = result.hung
      ? `timed out after ${options.timeout / 1000} s`
      : `failed with ${result.code}`;
    throw new Error(`${result.output}\nthis command ${how}: ${line}`);
  }
  return result;
}

/** A step with its name before and its seconds after. */
export async function step(title, work) {
  const start = performance.now();
  process.stdout.write(`${title} ... `);
  try {
    const note = await work();
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    console.log(`${typeof note === 'string' ? `${note}, ` : ''}${seconds} s`);
  } catch (error) {
    console.log('failed');
    throw error;
  }
}
