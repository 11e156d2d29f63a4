// Which files a change touches, for checks that are too slow to make of everything every time.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './environment.js';
import { must, run } from './run.js';

const lines = ({ stdout }) => stdout.split('\n').filter(Boolean);
const git = async (...args) => lines(await must('git', args));

/** The one line that a git command prints; undefined when it fails or prints nothing. */
async function answer(...args) {
  const result = await run('git', args);
  return result.code === 0 ? lines(result)[0] : undefined;
}

const commit = (name) => answer('rev-parse', '--verify', '--quiet', `${name}^{commit}`);

/** The newest commit that is a day older than HEAD; of a younger history the first of all. */
async function aDayBefore() {
  const time = Number(await answer('log', '-1', '--format=%ct', 'HEAD'));
  const old = await answer('rev-list', '-1', `--before=${time - 24 * 60 * 60}`, 'HEAD');
  return old ?? answer('rev-list', '--max-parents=0', 'HEAD');
}

/**
 * The commit that the change began at: QKV_BASE if that is one (before the first push of a branch a server calls it forty
 * zeros, and a push that rewrites a branch leaves it out), else where HEAD left its upstream (without one, the branch that was
 * cloned) if it is ahead of it, else the commit of a day before.
 */
async function baseOf() {
  const named = process.env.QKV_BASE;
  if (named) {
    if (await commit(named)) return named;
    console.log(`QKV_BASE ${named} is not a commit of this repository, so it is ignored`);
  }
  const upstream = (await commit('@{upstream}')) ?? (await commit('origin/HEAD'));
  if (!upstream) return aDayBefore();
  const left = await answer('merge-base', upstream, 'HEAD');
  return left === (await commit('HEAD')) ? aDayBefore() : (left ?? aDayBefore());
}

/** The files that differ from the base, committed or not, and those that git does not know yet; throws without the base. */
export async function changedFiles(base) {
  const from = base ?? (await baseOf());
  const differ = await git('diff', '--name-only', '--no-renames', from, '--');
  return [...differ, ...(await git('ls-files', '-o', '--exclude-standard'))];
}

const coreRun = join(root, 'tests/core-run.json');

/**
 * What the C++ library and its own tests are made of, and what builds them. Not tools/bootstrap, which brings browsers and linters, too: a compiler
 * or a processor that is another one is asked for the references, in every run.
 */
const ofCore = [
  /^(core|tests\/core|tests\/support\/(cpp|sanitizer)|tests\/reference\/(onnx|torch))\//,
  /^(tests\/)?CMake[^/]*$|^tools\/([^/]*\.cmake|(build|fuzz_native|sanitize)\.js)$/,
];

/** Of changed files, those that the C++ suite stands on. */
export const inCore = (changed) => changed.filter((file) => ofCore.some((one) => one.test(file)));

/**
 * The commit of the newest green run of all groups that asked all of the C++ suites, if the C++ library and its tests are still
 * as they were there; undefined also where git does not have that commit.
 */
export async function coreAsAsked() {
  const { commit: name } = JSON.parse(readFileSync(coreRun, 'utf8'));
  if (!(await commit(name))) return undefined;
  return inCore(await changedFiles(name)).length === 0 ? name : undefined;
}

/** Writes down that such a run was green. What it ran has to be a commit: with changes of no commit nothing is written. */
export async function noteCoreRun() {
  const changes = await git('status', '--porcelain');
  if (changes.length > 0) return;
  writeFileSync(coreRun, `{ "commit": "${await commit('HEAD')}" }\n`);
}

/** Whether a change touches a file of tests or what it is about: paths, of which a folder has all that is in it. */
export const touches = (changed, { title, about }) =>
  changed.some((file) => file === title || about.some((path) => file.startsWith(path)));

/** `most` of what a change touches, taken evenly from the whole list, as neighbours are of one kind. */
export function spread(list, most) {
  const step = Math.max(1, list.length / most);
  return list.filter((_, i) => Math.floor(i / step) !== Math.floor((i - 1) / step));
}
