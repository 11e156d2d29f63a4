// Where a contestant sits: a Chromium or a process of its own, so that the memory of each can be measured. A seat is
// { call(name, argument), peak(), close() }. What can be called:
//
//   prompt()          milliseconds of the prompt, up to the logits of its last token
//   fill(context)     reads so many tokens, which the next calls of decode() find in the cache
//   decode(context)   milliseconds of the tokens that are decoded after them; then the cache ends where it did
//   next()            the id of the largest logit after the prompt
//   pass(), attribute(), sweep()   as in patching.js; the sweep with the differences that it found
//   loss(), step(), sizes()        as in adapters.js
//   about()           words on how it computes the file, where there are several ways; undefined otherwise
import { fork, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { launch } from '../../tests/support/js/chromium.js';
import { environment, root } from '../../tools/environment.js';
import { torchProcess } from '../torch_process.js';
import { planOf } from './file.js';
import { clean, corrupt } from './patching.js';
import { contextIds, decodedIds, promptIds, shapes } from './shapes.js';

/** The most memory that a process had, in bytes; undefined where the system does not say. */
function peakOf(pid) {
  const file = `/proc/${pid}/status`;
  if (!existsSync(file)) return undefined;
  const [, kilobytes] = /^VmHWM:\s*(\d+) kB/m.exec(readFileSync(file, 'utf8')) ?? [];
  return kilobytes && 1024 * Number(kilobytes);
}

/** The process of the page, which is the largest of its kind: Chromium keeps a spare one. */
async function rendererPeak(browser) {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  const peaks = processInfo.filter(({ type }) => type === 'renderer').map(({ id }) => peakOf(id));
  return Math.max(...peaks.map((peak) => peak ?? NaN));
}

/** `open` is a module beside this file and its function: 'wllama.js wllama'. */
export async function pageSeat({ site, open, options }) {
  const browser = await launch();
  try {
    const page = await (await browser.newContext()).newPage();
    page.setDefaultTimeout(0);
    await page.goto(`${site.url}/`);
    await page.evaluate(
      async ([file, name, about]) => {
        const module = await import(`/bench/models/${file}`);
        globalThis.seat = await module[name](about);
      },
      [...open.split(' '), options],
    );
    return {
      call: (name, argument) =>
        page.evaluate(([what, about]) => globalThis.seat[what]?.(about), [name, argument]),
      peak: () => rendererPeak(browser),
      close: () => browser.close(),
    };
  } catch (error) {
    await browser.close();
    throw error;
  }
}

export async function processSeat({ open, options }) {
  const execArgv = ['--experimental-wasm-relaxed-simd'];
  const child = fork(join(root, 'bench/models/process.js'), { env: environment, execArgv });
  const ask = (message) =>
    new Promise((resolve, reject) => {
      const ended = (code) => reject(new Error(`the process ended with ${code}`));
      child.once('exit', ended);
      child.once('message', ({ value, error }) => {
        child.off('exit', ended);
        if (error === undefined) resolve(value);
        else reject(new Error(error));
      });
      child.send(message);
    });
  const close = () => child.kill('SIGKILL');
  try {
    await ask({ open, options });
  } catch (error) {
    close();
    throw error;
  }
  return {
    call: (call, argument) => ask({ call, argument }),
    peak: () => peakOf(child.pid),
    close,
  };
}

/** The C++ library, in the program of bench/model_program.cpp. */
export async function nativeSeat({ options: { shape, format, threads } }) {
  const program = join(root, 'build/native/bench/qkv_bench_model');
  if (!existsSync(program)) throw new Error('qkv_bench_model is not built');
  const child = spawn(program, { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const answer = async () => {
    const { value, done } = await lines.next();
    if (done) throw new Error('qkv_bench_model ended');
    return JSON.parse(value);
  };
  const tell = (what, tokens) => {
    child.stdin.write(`${what} ${tokens.join(' ')}\n`);
    return answer();
  };
  const calls = {
    prompt: async () => (await tell('prompt', promptIds)).ms,
    fill: async (context) => void (await tell('prompt', contextIds(context))),
    async decode(context) {
      await tell('keep', [context]);
      return (await tell('decode', decodedIds)).ms;
    },
    next: async () => (await tell('prompt', promptIds)).next,
    pass: async () => (await tell('pass', clean)).ms,
    attribute: async () => (await tell('attribute', clean)).ms,
    sweep: () => tell('sweep', [...clean, ...corrupt]),
  };
  child.stdin.write(`${JSON.stringify(planOf(shape, format, threads))}\n`);
  const { error } = await answer();
  if (error) throw new Error(error);
  return {
    call: (name, argument) => calls[name]?.(argument),
    peak: () => peakOf(child.pid),
    close: () => child.kill('SIGKILL'),
  };
}

/** PyTorch, in torch_patching.py, with float32. */
export async function torchSeat({ options: { shape, threads } }) {
  const { child, ask } = torchProcess('models/torch_patching.py', { stderr: 'inherit' });
  const { version } = await ask({ ...shapes[shape], threads });
  return {
    version,
    call: (call) => ask({ call, clean, corrupt }),
    peak: () => peakOf(child.pid),
    close: () => child.kill('SIGKILL'),
  };
}
