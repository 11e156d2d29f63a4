// Locks of a folder that several processes use: a file that one of them makes, says that it lives, and removes. They spare a second
// download; that what is kept is whole does not depend on them, so where none can be made there is none.

import { nodeModule } from '../../platform/node.js';

interface Files {
  mkdir(path: string, options: { recursive: boolean }): Promise<unknown>;
  writeFile(path: string, text: string, options: { flag: 'wx' }): Promise<void>;
  readFile(path: string, encoding: 'utf8'): Promise<string>;
  rename(from: string, to: string): Promise<void>;
  rm(path: string, options: { force: boolean }): Promise<void>;
  stat(path: string): Promise<{ mtimeMs: number }>;
  utimes(path: string, accessed: Date, modified: Date): Promise<void>;
}
interface Paths {
  dirname(path: string): string;
}
interface Host {
  hostname(): string;
}
interface Process {
  readonly pid: number;
  kill(pid: number, signal: 0): boolean;
}

/** Milliseconds between signs of life, and after how many without one a lock is taken from its owner. */
const [beat, patience] = [2_000, 10_000];

const codeOf = (error: unknown): unknown => (error as { code?: unknown } | null)?.code;

const thisProcess = (): Process => (globalThis as unknown as { process: Process }).process;
const thisHost = (): string => (nodeModule('node:os') as Host).hostname();

/** Whether the process that a lock names is not there any more. Of another machine nobody can tell. */
function isGone(text: string): boolean {
  const [pid, host] = text.split('\n');
  if (host !== thisHost() || !/^[1-9]\d{0,9}$/.test(pid ?? '')) return false;
  try {
    thisProcess().kill(Number(pid), 0);
    return false;
  } catch (error) {
    return codeOf(error) === 'ESRCH';
  }
}

/** Removals of locks that this thread has given back, which take a moment. */
const removals = new Map<string, Promise<void>>();

/** The right to write what this file stands for, if nobody has it: what gives it back, or undefined. */
export async function lockFile(path: string): Promise<(() => void) | undefined> {
  await removals.get(path);
  const files = nodeModule('node:fs/promises') as Files;
  const mark = Math.random().toString(36).slice(2);
  const own = [thisProcess().pid, thisHost(), mark].join('\n');
  const read = (): Promise<string> => files.readFile(path, 'utf8').catch(() => '');
  const make = (): Promise<void> => files.writeFile(path, own, { flag: 'wx' });
  try {
    await files.mkdir((nodeModule('node:path') as Paths).dirname(path), { recursive: true });
    try {
      await make();
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
      const text = await read();
      const { mtimeMs } = await files.stat(path);
      if (Date.now() - mtimeMs < patience && !isGone(text)) return undefined;
      // Of several that find it abandoned one moves it away.
      const aside = `${path}.${mark}`;
      await files.rename(path, aside);
      await files.rm(aside, { force: true });
      await make();
    }
  } catch (error) {
    // Somebody else was quicker; else the error comes when the folder is written to.
    return ['EEXIST', 'ENOENT'].includes(String(codeOf(error))) ? undefined : () => undefined;
  }
  const timer: unknown = setInterval(() => {
    const now = new Date();
    files.utimes(path, now, now).catch(() => undefined);
  }, beat);
  (timer as { unref?(): void }).unref?.();
  return () => {
    clearInterval(timer as number);
    const removal = read()
      .then((text) => (text === own ? files.rm(path, { force: true }) : undefined))
      .catch(() => undefined)
      .finally(() => removals.delete(path));
    removals.set(path, removal);
  };
}
