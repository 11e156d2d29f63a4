// The workflows, as far as they can be judged without being run: they parse, may do no more than they need, and
// run no code that somebody else could exchange.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { parseDocument } from 'yaml';
import { root, text } from '../support/js/files.js';

const folder = '.github/workflows';

/** Jobs that may do more than read the code, and what. */
const trusted = { 'release.yml publish': { contents: 'read', 'id-token': 'write' } };

/** What is wrong with a workflow, in sentences. */
function problemsOf(name, source) {
  const document = parseDocument(source);
  if (document.errors.length > 0) return document.errors.map(({ message }) => message);
  const workflow = document.toJS();
  const problems = [];
  const expect = (holds, problem) => holds || problems.push(`${name}: ${problem}`);
  const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

  expect(workflow.name, 'has no name');
  expect(same(workflow.permissions, { contents: 'read' }), 'may do more than read by default');
  expect(!('pull_request_target' in workflow.on), 'runs strangers’ code with its own rights');
  expect(!/\$\{\{[^}]*secrets\./.test(source), 'needs a secret');

  for (const [, reference, rest] of source.matchAll(/^\s*-?\s*uses:\s*(\S+)(.*)$/gm)) {
    expect(/^[\w.-]+\/[\w./-]+@[0-9a-f]{40}$/.test(reference), `${reference} is not pinned`);
    expect(/^ # v\d+\.\d+\.\d+$/.test(rest), `${reference} does not say which release it is`);
  }
  for (const [id, job] of Object.entries(workflow.jobs ?? {})) {
    const allowed = trusted[`${name} ${id}`];
    expect(same(job.permissions, allowed), `job ${id} has other permissions than it may`);
    expect(job['timeout-minutes'] > 0, `job ${id} has no timeout`);
    expect(job.steps?.length > 0, `job ${id} does nothing`);
    for (const step of job.steps ?? []) problems.push(...problemsOfStep(`${name}, ${id}`, step));
    const checksOut = (job.steps ?? []).some(({ uses = '' }) =>
      uses.startsWith('actions/checkout'),
    );
    expect(!allowed || !checksOut, `job ${id} has both a token and the code`);
  }
  return problems;
}

function problemsOfStep(where, { uses, run, with: inputs = {} }) {
  const problems = [];
  if (uses?.startsWith('actions/checkout@') && inputs['persist-credentials'] !== false) {
    problems.push(`${where}: checkout keeps its credentials`);
  }
  if ((uses === undefined) === (run === undefined))
    problems.push(`${where}: uses or run, not both`);
  if (run === undefined) return problems;
  // What an event brings along could be any text; the environment hands it over without the shell reading it.
  if (run.includes('${{')) problems.push(`${where}: ${run} pastes text into a command`);
  const [, script] = /^(?:node )?((?:tools|\.ci|tests)\/\S+)/.exec(run) ?? [];
  if (script && !existsSync(join(root, script))) problems.push(`${where}: there is no ${script}`);
  try {
    execFileSync('bash', ['-n', '-c', run], { stdio: 'pipe' });
  } catch (error) {
    problems.push(`${where}: ${error.stderr}`);
  }
  return problems;
}

const names = readdirSync(join(root, folder));

test('there are workflows for every push and for releases', () =>
  assert.deepEqual(names.sort(), ['ci.yml', 'release.yml']));

for (const name of names) {
  test(`${name} has nothing wrong`, () =>
    assert.deepEqual(problemsOf(name, text(`${folder}/${name}`)), []));
}

describe('what would be wrong is found', () => {
  const release = text(`${folder}/release.yml`);
  const faults = {
    'is not pinned': [/@[0-9a-f]{40}/, '@v7'],
    'does not say which release': [/ # v7\.0\.1/, ''],
    'more than read by default': ['permissions:\n  contents: read\n', ''],
    'other permissions than it may': ['      id-token: write', '      packages: write'],
    'has no timeout': ['    timeout-minutes: 10\n', ''],
    'keeps its credentials': ['persist-credentials: false', 'fetch-depth: 1'],
    'pastes text into a command': ['"$GITHUB_REF_NAME"', '${{ github.ref_name }}'],
    'there is no': ['.ci/run', '.ci/walk'],
    'needs a secret': ['--ignore-scripts', '${{ secrets.TOKEN }}'],
    'unexpected EOF': ['npm pack', 'npm "pack'],
    'at line': ['jobs:', 'jobs: ['],
  };
  for (const [complaint, [from, to]] of Object.entries(faults)) {
    test(complaint, () => {
      const wrong = release.replace(from, to);
      assert.notEqual(wrong, release);
      const problems = problemsOf('release.yml', wrong);
      assert.ok(
        problems.some((problem) => problem.includes(complaint)),
        String(problems),
      );
    });
  }
});
