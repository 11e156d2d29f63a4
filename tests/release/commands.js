// Commands of strangers: compilers, package managers, bundlers. None may hang: each has a time, after which it and
// whatever it started are ended, and the error has what was printed so far.
import { spawn } from 'node:child_process';

const seconds = 1000;
export const usual = 180 * seconds;

const running = new Set();

/** Ends a command and all it started; it leads a process group of its own. */
function end(child) {
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    child.kill('SIGKILL'); // it has just ended by itself
  }
}

// Nor may one outlive the test, also when the test is ended from outside.
process.on('exit', () => running.forEach(end));
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

/** Why a command is over, if it is not because it was done. */
const reasonOf = ({ late, timeout, code, signal }) =>
  late ? `did not end in ${timeout / seconds} s` : `failed with ${code ?? signal}`;

/**
 * Runs a command. Resolves to { code, stdout, stderr, output }, where `output` is both in the order they came;
 * rejects when it takes longer than `timeout` milliseconds or cannot be started.
 */
export function attempt(command, args, { cwd, env = process.env, timeout = usual } = {}) {
  return new Promise((resolve, reject) => {
    const line = [command, ...args].join(' ');
    const stdio = ['ignore', 'pipe', 'pipe'];
    const child = spawn(command, args, { cwd, env, stdio, detached: true });
    running.add(child);
    const said = { stdout: '', stderr: '', output: '' };
    for (const name of ['stdout', 'stderr']) {
      child[name].setEncoding('utf8').on('data', (data) => {
        said[name] += data;
        said.output += data;
      });
    }
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      end(child);
    }, timeout);
    const over = () => {
      clearTimeout(timer);
      running.delete(child);
    };
    child.on('error', (error) => {
      over();
      reject(error);
    });
    child.on('close', (code, signal) => {
      over();
      if (code !== null && !late) return resolve({ code, ...said });
      const why = reasonOf({ late, timeout, code, signal });
      return reject(Object.assign(new Error(`${line} ${why}\n${said.output}`), said));
    });
  });
}

/** attempt() that rejects, with what was printed, when the command fails. */
export async function must(command, args, options) {
  const result = await attempt(command, args, options);
  if (result.code === 0) return result;
  const line = [command, ...args].join(' ');
  throw Object.assign(new Error(`${line} failed with ${result.code}\n${result.output}`), result);
}
