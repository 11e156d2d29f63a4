// A script in a Node of its own, with flags of its own.
import { spawn } from 'node:child_process';
import { root } from './files.js';

/**
 * Runs an ES module given as text; resolves to { code, stdout, stderr }. The flags are exactly these:
 * those of the test run are not handed down. After `timeout` milliseconds it is ended, and `code` is null.
 */
export function runNode(flags, script, { cwd = root, timeout } = {}) {
  return new Promise((resolve, reject) => {
    const args = [...flags, '--input-type=module', '--eval', script];
    const child = spawn(process.execPath, args, {
      cwd,
      timeout,
      env: { ...process.env, NODE_OPTIONS: '', NODE_TEST_CONTEXT: '' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (data) => (stdout += data));
    child.stderr.on('data', (data) => (stderr += data));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
}

/** What the script printed as JSON; throws with its stderr if it failed. */
export async function resultOf(flags, script, options) {
  const { code, stdout, stderr } = await runNode(flags, script, options);
  if (code !== 0) throw new Error(`the script ended with ${code}: ${stderr || stdout}`);
  return JSON.parse(stdout);
}
