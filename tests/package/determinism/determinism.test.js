// @build any
// The same bits on every engine, with any number of threads, run after run. Hashes of the simd builds are
// committed; the relaxed builds may fuse a multiplication and an addition where the machine can, so that theirs
// are compared on one machine only. QKV_REFRESH=1 writes the hashes that Node arrives at.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { full } from '../../support/js/full.js';
import { committed, differences, firstDifference, refresh, told } from './compare.js';
import { hosts } from './hosts.js';

/** As many as one can look at. */
const most = 3;

/** What each host whose hashes are the committed ones has computed, to show beside what is wrong elsewhere. */
const good = [];
const expected = process.env.QKV_REFRESH ? undefined : committed();

/** The values of some results: `ask` of a host, for one build. */
const valuesOf = async (host, build, names) =>
  (await host.ask({ builds: [build], names }))[0] ?? {};

/** The bits that should have been, from a host that has them. */
async function rightValues(names) {
  const [host] = good;
  return host ? valuesOf(host, host.builds[0], names) : {};
}

/** Fails, with the first elements that differ. `there` and `here` give values by name. */
async function explain(what, names, there, here) {
  const shown = names.slice(0, most);
  const [right, wrong] = [await there(shown), await here(shown)];
  const lines = shown.map((name) => {
    if (!wrong[name]) return `${name}: nobody computes it any more`;
    if (right[name]) return firstDifference(name, right[name], wrong[name]);
    const first = wrong[name].slice(0, 4).map(told).join(' ');
    return `${name}: begins with ${first} here, and no host has the right bits`;
  });
  if (names.length > most) lines.push(`and ${names.length - most} more`);
  assert.fail(`${what}: ${names.length} results differ\n${lines.join('\n')}`);
}

const isSimd = ({ variant }) => variant.startsWith('simd');
const nameOf = ({ variant, threads }) => `${variant} with ${threads}`;
const buildOf = ({ variant, threads }) =>
  variant.endsWith('-threads') ? { variant, threads } : { variant };

/** Every build of a host against the first of its kind, and each round against the first. */
async function compareBuilds(host, answers) {
  for (const kind of ['simd', 'relaxed']) {
    const same = answers.filter(({ variant }) => variant.startsWith(kind));
    const [first] = same;
    for (const answer of same) {
      for (const [round, digests] of answer.rounds.entries()) {
        const names = differences(first.rounds[0], digests);
        if (names.length === 0) continue;
        const what = `${host.name}, ${nameOf(answer)}, round ${round + 1}, beside ${nameOf(first)}`;
        const values = (of) => (wanted) => valuesOf(host, buildOf(of), wanted);
        await explain(what, names, values(first), values(answer));
      }
    }
  }
}

for (const host of hosts) {
  const { builds } = host;
  describe(host.name, { skip: host.missing }, async () => {
    let answers;

    test('computes all builds, each with the threads that were asked for', async (t) => {
      answers = await host.ask({ builds });
      const found = answers.map(({ variant, threads }) => `${variant} ${threads}`);
      const wanted = builds.map(({ variant, threads = 1 }) => `${variant} ${threads}`);
      const missing = wanted.filter((name) => !found.includes(name));
      assert.ok(
        missing.every((name) => name.startsWith('relaxed')),
        `without ${missing}`,
      );
      assert.deepEqual(
        found.filter((name) => !wanted.includes(name)),
        [],
      );
      if (missing.length > 0) t.diagnostic(`no relaxed SIMD: ${missing.length} builds less`);
      t.diagnostic(`${Object.keys(answers[0].rounds[0]).length} results of each build`);
    });

    test('simd arrives at the committed hashes', async () => {
      const { rounds } = answers.find(isSimd);
      if (!expected && host === hosts[0]) refresh(rounds[0]);
      const names = differences(expected ?? committed(), rounds[0]);
      if (names.length === 0) {
        good.push(host);
        return;
      }
      await explain(`${host.name}, simd`, names, rightValues, (wanted) =>
        valuesOf(host, builds[0], wanted),
      );
    });

    test('the number of threads, the round and the run change no bit', async () => {
      // A new process: code that was compiled anew, and in a page another renderer.
      const others = full ? builds.filter(({ threads = 2 }) => threads === 2) : [];
      const again = others.length > 0 ? await host.ask({ builds: others }) : [];
      await compareBuilds(host, [...answers, ...again]);
    });
  });
}
