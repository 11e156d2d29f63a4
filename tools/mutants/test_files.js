// Files of node:test as judges of a mutation: how long each takes, what it reaches, and which of them is red first.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { root, toolchain } from '../environment.js';
import { withReach } from './reach.js';
import { nodeTestFile } from './until_red.js';

export const seconds = (ms) => (ms / 1000).toFixed(1);

export const notAsked = (red) => `red without a mutation, so not asked: ${red}`;

/** Long enough for a busy machine; what is not done by then hangs. */
export const limitOf = (ms) => Math.max(60_000, 5 * ms);

/** The test files below these folders. */
export function testFiles(...folders) {
  return folders.flatMap((folder) => {
    if (!existsSync(join(root, folder))) return [];
    const names = readdirSync(join(root, folder)).filter((name) => name.endsWith('.test.js'));
    return names.map((name) => `${folder}/${name}`);
  });
}

const browsers = { CHROMIUM: toolchain.CHROMIUM ?? '', FIREFOX: toolchain.FIREFOX ?? '' };

/** Does work for each of a list, `atOnce` at a time. */
function inLanes(list, atOnce, work) {
  const left = [...list];
  const lane = async () => {
    for (let next = left.shift(); next; next = left.shift()) await work(next);
  };
  return Promise.all(Array.from({ length: atOnce }, lane));
}

/** Test files with what one run of each told: how long it took and, if that was asked, which lines it reached. */
export class TestFiles {
  #known = [];
  #atOnce;
  #env;

  constructor(files, { atOnce = 1, env = {} } = {}) {
    this.files = files;
    this.#atOnce = atOnce;
    this.#env = { ...browsers, ...env };
  }

  /** Runs each file once. With `bundles` also notes what it reaches. One that is red as it is can tell nothing. */
  async measure(copy, bundles) {
    const left = [];
    const start = performance.now();
    await inLanes(this.files, this.#atOnce, async (file) => {
      const work = (env) =>
        nodeTestFile(copy, file, { limit: 600_000, env: { ...this.#env, ...env } });
      const { red, ms, lines } = bundles ? await withReach(bundles, work) : await work({});
      if (red) left.push(red);
      else this.#known.push({ file, ms, lines });
    });
    this.#known.sort((a, b) => a.ms - b.ms);
    const time = seconds(performance.now() - start);
    return [`${this.#known.length} test files in ${time} s`, ...left.map(notAsked)].join('\n');
  }

  /** The files that reach the place of a mutation, quickest first. */
  reaching({ file, line }) {
    return this.#known.filter(({ lines }) => !lines || lines.has(`${file}:${line}`));
  }

  /** Asks these in their order, { file, ms } each, until one is red. */
  async ask(copy, known) {
    const found = new AbortController();
    let answer = {};
    await inLanes(known, this.#atOnce, async ({ file, ms }) => {
      const { signal } = found;
      if (signal.aborted) return;
      const options = { limit: limitOf(ms), signal, env: this.#env };
      const { red, error, late } = await nodeTestFile(copy, file, options);
      if (!red || signal.aborted) return;
      answer = { red, error, late };
      found.abort();
    });
    return answer;
  }
}
