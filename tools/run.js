// Runs commands and says how far things are.
import { spawn } from 'node:child_process';
import { environment, root } from './environment.js';

/**
 * Runs a command from the root of the project, its output collected. Resolves to { code, output,
 * stdout }; rejects only when it cannot be started. After `timeout` ms it is ended, and `code` is null.
 */
export function run(command, args, { env = {}, cwd = root, timeout } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd,
      timeout,
      env: { ...environment, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    let stdout = '';
    child.stdout.on('data', (data) => {
      output += data;
      stdout += data;
    });
    child.stderr.on('data', (data) => (output += data));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, output, stdout }));
  });
}

/** run() that throws with the command's output when it fails. */
export async function must(command, args, options) {
  const result = await run(command, args, options);
  if (result.code !== 0) {
    const line = [command, ...args].join(' ');
    throw new Error(`${result.output}\nthis command failed with ${result.code}: ${line}`);
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
