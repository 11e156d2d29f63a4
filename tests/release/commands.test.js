// Commands that the tools start (tools/run.js): what they print is kept, and they end with all that they started when they take
// too long and when the tool is ended.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { run } from '../../tools/run.js';
import { root } from '../support/js/files.js';
import { until } from '../support/js/patience.js';

const folder = mkdtempSync(join(tmpdir(), 'qkv-commands-'));
after(() => rmSync(folder, { recursive: true }));

/**
 * The command line of two processes that never end, the second started by the first; neither ends when it is asked to. The second
 * writes down both numbers and says so.
 */
function hanging(file) {
  const stay = "process.on('SIGTERM', () => {}); setInterval(() => {}, 1e6);";
  const second = `${stay}
    require('node:fs').writeFileSync(${JSON.stringify(file)}, process.ppid + ' ' + process.pid);
    console.log('not ok 1 - both are there');`;
  const first = `${stay}
    require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(second)}], { stdio: 'inherit' });`;
  return ['-e', first];
}

const numbersIn = (file) => readFileSync(file, 'utf8').trim().split(/\s/).map(Number);

function isThere(pid) {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe('commands', { concurrency: true }, () => {
  test('run: what a command prints and how it ends is told', async () => {
    const script = "console.log('out'); console.error('err'); process.exitCode = 3";
    const { code, output, stdout, hung } = await run(process.execPath, ['-e', script]);
    assert.deepEqual({ code, stdout, hung }, { code: 3, stdout: 'out\n', hung: false });
    assert.deepEqual(output.split('\n').sort(), ['', 'err', 'out']);
  });

  // These two resolve when nothing holds the output any more.
  test('run: a command that takes too long is ended with what it started', async () => {
    const line = hanging(join(folder, 'slow'));
    const { code, hung } = await run(process.execPath, line, { timeout: 1000 });
    assert.deepEqual({ code, hung }, { code: null, hung: true });
  });

  test('run: who ends the tool ends what it runs', async () => {
    const file = join(folder, 'run');
    const again = join(folder, 'again');
    // The tool begins it anew whenever it has ended, as it does at once when it is asked to.
    const ends = ['-c', `echo $$ >> ${again}; exec sleep 1000000`];
    const call = (command, line) => `run(${JSON.stringify(command)}, ${JSON.stringify(line)})`;
    const script = `
      const { run } = await import(${JSON.stringify(join(root, 'tools/run.js'))});
      ${call(process.execPath, hanging(file))};
      for (;;) await ${call('sh', ends)};`;
    const tool = spawn(process.execPath, ['--input-type=module', '-e', script]);
    const ended = new Promise((resolve) => tool.on('close', resolve));
    await until(() => existsSync(file) && numbersIn(file).length === 2 && existsSync(again));
    tool.kill('SIGTERM');
    assert.equal(await ended, 1);
    const begun = numbersIn(again);
    assert.ok(begun.length > 1, 'one was begun while others ended');
    await until(() => ![...numbersIn(file), ...begun].some(isThere));
  });
});
