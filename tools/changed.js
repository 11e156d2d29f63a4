// Which files a change touches, for checks that are too slow to make of everything every time.
import { must, run } from './run.js';

const lines = ({ stdout }) => stdout.split('\n').filter(Boolean);
const git = async (...args) => lines(await must('git', args));

/**
 * The commit that the change began at: QKV_BASE, else where this branch left its upstream, else the one before the
 * last. A clone without history has none, and then everything counts as changed.
 */
async function baseOf() {
  if (process.env.QKV_BASE) return process.env.QKV_BASE;
  const upstream = await run('git', ['merge-base', 'HEAD', '@{upstream}']);
  const [head] = await git('rev-parse', 'HEAD');
  if (upstream.code === 0 && upstream.stdout.trim() !== head) return upstream.stdout.trim();
  const before = await run('git', ['rev-parse', '--verify', 'HEAD~1']);
  return before.code === 0 ? before.stdout.trim() : undefined;
}

/** The files that differ from the base, and those that git does not know yet. */
export async function changedFiles(base) {
  const from = base ?? (await baseOf());
  const differ = from ? await git('diff', '--name-only', from) : await git('ls-files');
  return [...differ, ...(await git('ls-files', '-o', '--exclude-standard'))];
}
