// PyTorch in a python3 that has it: a program of this folder that answers each line of JSON with another.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** Starts bench/<program>: { child, ask }, where `ask` throws if there is no PyTorch. */
export function torchProcess(program, { env = process.env, stderr = 'pipe' } = {}) {
  const path = fileURLToPath(new URL(program, import.meta.url));
  const child = spawn(process.env.QKV_PYTHON ?? 'python3', [path], {
    env,
    stdio: ['pipe', 'pipe', stderr],
  });
  // Of a program that is not there, or ends at once, the next line is missing, which says it.
  for (const part of [child, child.stdin]) part.on('error', () => {});
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ask = async (request) => {
    child.stdin.write(`${JSON.stringify(request)}\n`);
    const { value, done } = await lines.next();
    if (done) throw new Error('no python3 here has torch; QKV_PYTHON can name one that has');
    return JSON.parse(value);
  };
  return { child, ask };
}
