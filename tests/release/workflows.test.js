// The workflows and the actions of this repository, as far as they can be judged without being run: they parse, may do
// no more than they need, run no code that somebody else could exchange, and no command can go on for ever. The rules
// hold for any number of them.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseDocument } from 'yaml';
import { packageJson, root, text } from '../support/js/files.js';

/** What a job may do with the repository and in its name, beyond reading. */
const writes = (permissions = {}) =>
  typeof permissions === 'string'
    ? permissions !== 'read-all'
    : Object.values(permissions).some((access) => access === 'write');

const isOurs = (uses) => uses.startsWith('./');
const usesOf = (job) => (job.steps ?? []).map(({ uses = '' }) => uses);

/** Whether a job runs code of the checkout: what its pull request, or a dependency, has put there. */
const runsOurCode = (job) =>
  usesOf(job).some((uses) => isOurs(uses) || uses.startsWith('actions/checkout@'));

/** Whether a job does nothing but put on GitHub Pages what another has made. */
const onlyDeploys = ({ steps = [], environment }) =>
  environment?.name === 'github-pages' &&
  steps.every(({ uses = '' }) => uses.startsWith('actions/deploy-pages@'));

/** Actions of others are named by commit, with the release in words. */
function problemsOfActions(source) {
  const all = Array.from(source.matchAll(/^\s*(?:- )?uses:\s*(\S+)(.*)$/gm), ([, uses, rest]) => ({
    uses,
    rest,
  }));
  return all.flatMap(({ uses, rest }) => {
    if (isOurs(uses)) {
      return existsSync(join(root, uses, 'action.yml')) ? [] : [`there is no ${uses}`];
    }
    const pinned = /^[\w.-]+\/[\w./-]+@[0-9a-f]{40}$/.test(uses);
    const said = /^ # v\d+\.\d+\.\d+$/.test(rest);
    return [
      ...(pinned ? [] : [`${uses} is not pinned`]),
      ...(said ? [] : [`${uses} does not say which release it is`]),
    ];
  });
}

/** What a command names of this repository and is not there. */
function missingIn(run) {
  const files = Array.from(run.matchAll(/(?:^|\s)((?:tools|\.ci|tests)\/\S+)/gm), ([, f]) => f);
  const scripts = Array.from(run.matchAll(/\bnpm (?:run )?(test(?::\w+)?)\b/g), ([, name]) => name);
  return [
    ...files.filter((file) => !existsSync(join(root, file.replace(/\/[^/]*\*.*/, '')))), // of a pattern its folder
    ...scripts.filter((name) => packageJson.scripts[name] === undefined),
  ];
}

function problemsOfStep({ uses = '', run, with: inputs = {} }) {
  const problems = [];
  if (uses.startsWith('actions/checkout@') && inputs['persist-credentials'] !== false) {
    problems.push('checkout keeps its credentials');
  }
  if ((uses === '') === (run === undefined)) problems.push('a step has both uses and run, or none');
  if (run === undefined) return problems;
  // What an event brings along could be any text; the environment hands it over without the shell reading it.
  if (run.includes('${{')) problems.push(`${run} pastes text into a command`);
  problems.push(...missingIn(run).map((name) => `there is no ${name}`));
  const { status, stderr } = spawnSync('bash', ['-n', '-c', run], { encoding: 'utf8' });
  if (status !== 0) problems.push(stderr);
  return problems;
}

function problemsOfJob(job, { publishes, readsSecret }) {
  const problems = (job.steps ?? []).flatMap(problemsOfStep);
  const expect = (holds, problem) => holds || problems.push(problem);
  expect(job.steps?.length > 0, 'does nothing');
  expect(job['timeout-minutes'] > 0 && job['timeout-minutes'] <= 360, 'has no timeout');
  const { contents = 'read', 'id-token': token = 'none', pages, ...others } = job.permissions ?? {};
  const known = contents === 'read' && ['none', 'write'].includes(token);
  expect(known && Object.keys(others).length === 0, 'may do more than read and be trusted by npm');
  expect(!pages || onlyDeploys(job), 'may write to Pages and does more than that');
  const trusted = writes(job.permissions) || readsSecret;
  expect(!trusted || !runsOurCode(job), 'runs the project’s code where a token or a secret is');
  // Another run, of a pull request too, may have written what a cache gives back.
  const caches = usesOf(job).some((uses) => isOurs(uses) || uses.startsWith('actions/cache'));
  expect(!publishes || !caches, 'takes from a cache what will be published');
  return problems;
}

/** What is wrong with a workflow, in sentences. */
function problemsOf(source) {
  const document = parseDocument(source);
  if (document.errors.length > 0) return document.errors.map(({ message }) => message);
  const workflow = document.toJS();
  const problems = problemsOfActions(source);
  const expect = (holds, problem) => holds || problems.push(problem);
  expect(workflow.name, 'it has no name');
  const { contents, ...others } = workflow.permissions ?? {};
  const narrow = contents === 'read' && Object.keys(others).length === 0;
  expect(narrow, 'it may do more than read by default');
  const dangerous = ['pull_request_target', 'workflow_run'].filter((on) => on in workflow.on);
  expect(dangerous.length === 0, 'it runs strangers’ code with its own rights');
  const jobs = Object.entries(workflow.jobs ?? {});
  expect(jobs.length > 0, 'it has no jobs');
  const publishes = jobs.some(([, job]) => writes(job.permissions));
  const secret = /\$\{\{[^}]*secrets\b/;
  const everywhere = secret.test(JSON.stringify({ ...workflow, jobs: undefined }));
  for (const [id, job] of jobs) {
    const readsSecret = everywhere || secret.test(JSON.stringify(job));
    const found = problemsOfJob(job, { publishes, readsSecret });
    problems.push(...found.map((problem) => `job ${id}: ${problem}`));
  }
  return problems;
}

/** The same of an action of this repository, which a job of a workflow runs. */
function problemsOfAction(source) {
  const document = parseDocument(source);
  if (document.errors.length > 0) return document.errors.map(({ message }) => message);
  const { steps } = document.toJS().runs;
  return [...problemsOfActions(source), ...steps.flatMap(problemsOfStep)];
}

const list = (folder) => readdirSync(join(root, folder)).map((name) => `${folder}/${name}`);
const workflows = list('.github/workflows');
const actions = list('.github/actions').map((folder) => `${folder}/action.yml`);

test('workflows: there are some for every push, for releases and for every night', () => {
  const events = workflows.flatMap((path) => Object.keys(parseDocument(text(path)).toJS().on));
  for (const event of ['push', 'pull_request', 'schedule']) assert.ok(events.includes(event));
});

for (const path of workflows) {
  test(`workflows: ${path} has nothing wrong`, () => assert.deepEqual(problemsOf(text(path)), []));
}
for (const path of actions) {
  test(`workflows: ${path} has nothing wrong`, () =>
    assert.deepEqual(problemsOfAction(text(path)), []));
}
