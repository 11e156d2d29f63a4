// The files of the change at hand, for tests that would take too long with all files: planted faults, sources compiled alone.
import { must, run } from './run.js';

const lines = ({ stdout }) => stdout.split('\n').filter(Boolean);
const git = async (...args) => lines(await must('git', args));

/** The one line that a git command prints; undefined when it fails or prints nothing. */
async function answer(...args) {
  const result = await run('git', args);
  return result.code === 0 ? lines(result)[0] : undefined;
}

const commit = (name) => answer('rev-parse', '--verify', '--quiet', `${name}^{commit}`);

/**
 * The commit that the change began at: QKV_BASE if that is one (before the first push of a branch a server calls it forty
 * zeros, and a push that rewrites a branch leaves it out), else where HEAD left the branch that was cloned (without one, its
 * upstream) if it is ahead of it, else the commit before HEAD.
 */
async function baseOf() {
  const named = process.env.QKV_BASE;
  if (named) {
    if (await commit(named)) return named;
    console.log(`QKV_BASE ${named} is not a commit of this repository, so it is ignored`);
  }
  const upstream = (await commit('origin/HEAD')) ?? (await commit('@{upstream}'));
  const left = upstream && (await answer('merge-base', upstream, 'HEAD'));
  if (left && left !== (await commit('HEAD'))) return left;
  return (await commit('HEAD~1')) ?? 'HEAD';
}

/** The files that differ from the base, committed or not, and those that git does not know yet; throws without the base. */
export async function changedFiles(base) {
  const from = base ?? (await baseOf());
  const differ = await git('diff', '--name-only', '--no-renames', from, '--');
  return [...differ, ...(await git('ls-files', '-o', '--exclude-standard'))];
}

let found;

/** Those of the change at hand, which a run looks for once. */
export const theChange = () => (found ??= changedFiles());
