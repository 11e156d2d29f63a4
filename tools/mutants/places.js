// Where faults are planted: ast-grep finds their places in the syntax tree, by rules in YAML. A rule of a planted fault has
// one place; that of an operator has as many as there are, of which a seed draws some.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { randomOf } from '../../tests/support/js/random.js';
import { root } from '../environment.js';
import { must } from '../run.js';
import { operatorRules } from './operators.js';

const here = join(root, 'tools/mutants');
const modules = join(here, 'node_modules/@ast-grep');

/** ast-grep's program for this machine, in a package that is optional to its command line. */
function program() {
  const own = existsSync(modules) && readdirSync(modules).find((name) => name.startsWith('cli-'));
  return own ? join(modules, own, 'ast-grep') : undefined;
}

async function install() {
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'];
  await must('npm', ['install', ...options], { cwd: here });
}

/**
 * The places of rules below these folders: { id, message, tests, file, line, start, end, text, replacement }, with start and
 * end in bytes.
 */
async function placesOf(rules, ...folders) {
  if (!program()) await install();
  const options = ['--json=compact', '--include-metadata'];
  const { stdout } = await must(program(), [
    'scan',
    '--inline-rules',
    rules,
    ...options,
    ...folders,
  ]);
  const places = JSON.parse(stdout).map(
    ({ ruleId: id, message, metadata, file, text, replacement, range }) => {
      const { start, end } = range.byteOffset;
      const line = range.start.line + 1;
      return { id, message, tests: metadata?.tests, file, line, start, end, text, replacement };
    },
  );
  // ast-grep reads files side by side, and a seed should draw the same ones each time.
  const compare = (a, b) => (a < b ? -1 : Number(a > b));
  return places.sort(
    (a, b) => compare(a.file, b.file) || a.start - b.start || a.end - b.end || compare(a.id, b.id),
  );
}

/** Whether what a fault names is there: one place, and its tests. The reason if not. */
export function lost(places, tests = []) {
  if (places.length !== 1) return `has ${places.length} places in the source, expected 1`;
  const gone = tests.find((test) => !existsSync(join(root, test)));
  return gone && `names ${gone}, which does not exist`;
}

/** The planted faults of tools/mutants/faults: those that have their place, and { id, why } of those that have lost it. */
export async function plantedFaults() {
  const all = [];
  for (const name of readdirSync(join(here, 'faults'))) {
    const rules = readFileSync(join(here, 'faults', name), 'utf8');
    const places = await placesOf(rules, 'core', 'wasm', 'web');
    for (const [, id] of rules.matchAll(/^id: (.*)$/gm)) {
      const own = places.filter((place) => place.id === id);
      const why = lost(own, own[0]?.tests);
      all.push({ ...own[0], id, group: basename(name, '.yml'), why });
    }
  }
  return { faults: all.filter(({ why }) => !why), lost: all.filter(({ why }) => why) };
}

/** These in an order that a seed decides. */
export function inAnyOrder(items, seed) {
  const random = randomOf(seed);
  const left = [...items];
  return items.map(() => left.splice(Math.floor(random() * left.length), 1)[0]);
}

/** `count` of the mutations that the operators make below a folder, no two at one place, drawn by a seed. */
export async function randomFaults(folder, count, seed) {
  const places = await placesOf(operatorRules, folder);
  const all = places.filter(({ text, replacement }) => text !== replacement);
  const drawn = [];
  const meets = (a, b) => a.file === b.file && a.start < b.end && b.start < a.end;
  for (const one of inAnyOrder(all, seed)) {
    if (drawn.length === count) break;
    if (!drawn.some((other) => meets(one, other))) drawn.push(one);
  }
  return drawn;
}

/** planted.js, which every source has for itself: not all that runs is bundled. */
const script = readFileSync(join(here, 'planted.js'), 'utf8').replace('export ', '');

/** What a source of each language begins with, and how it asks whether a fault acts. */
const asking = {
  cpp: [`#include "${join(here, 'planted.hpp')}"`, (number) => `qkv_planted::acts(${number})`],
  ts: [
    `const qkvPlanted = (() => {\n${script}return qkvPlanted;\n})();`,
    (number) => `qkvPlanted(${number})`,
  ],
};

/** A source with all its faults, each a choice by its number: of two expressions or of two statements. */
export function planted(source, faults) {
  const [first, acts] = asking[/\.[ch]pp$/.test(faults[0].file) ? 'cpp' : 'ts'];
  let bytes = Buffer.from(source);
  const fromTheLast = [...faults].sort((a, b) => b.start - a.start);
  for (const [i, { id, start, end, text, replacement, number }] of fromTheLast.entries()) {
    const next = fromTheLast[i - 1];
    if (end > next?.start) throw new Error(`${id} meets ${next.id}`);
    const choice = text.endsWith(';')
      ? `if (${acts(number)}) { ${replacement} } else { ${text} }`
      : `(${acts(number)} ? (${replacement}) : (${text}))`;
    bytes = Buffer.concat([bytes.subarray(0, start), Buffer.from(choice), bytes.subarray(end)]);
  }
  return `${first}\n${bytes}`;
}
