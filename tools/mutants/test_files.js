// Files of node:test as judges of a mutation: how long each takes, what it reaches, and which of them is red first.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { root, toolchain } from '../environment.js';
import { withReach } from './reach.js';
import { nodeTestFile } from './until_red.js';

export const seconds = (ms) => (ms / 1000).toFixed(1);

export const notAsked = (red) => `red without a mutation, so not used: ${red}`;

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

/**
 * Test files with what one run of each told: how long it took and, if that was asked, what it reached. Of a file with
 * `parts`, the words before the colon in titles of tests that do not need each other, each is asked by itself.
 */
export class TestFiles {
  #known = [];
  #asked;
  #measuredAtOnce;
  #atOnce;
  #env;

  constructor(files, { atOnce = 1, measuredAtOnce = atOnce, env = {}, parts = {} } = {}) {
    this.#asked = files.flatMap((file) =>
      (parts[file] ?? [undefined]).map((only) => ({ file, only })),
    );
    this.#measuredAtOnce = measuredAtOnce;
    this.#atOnce = atOnce;
    this.#env = { ...browsers, ...env };
  }

  #run(copy, { file, only }, options) {
    const named = only === undefined ? [] : [`--test-name-pattern=^${only}:`];
    return nodeTestFile(copy, file, {
      ...options,
      only: named,
      env: { ...this.#env, ...options.env },
    });
  }

  /**
   * Runs each once. With `reach` also notes what it reaches: 'inline', or the bundles of dist/. One that is red as it is
   * can tell nothing.
   */
  async measure(copy, reach) {
    const left = [];
    const start = performance.now();
    await inLanes(this.#asked, this.#measuredAtOnce, async (one) => {
      const work = (env) => this.#run(copy, one, { limit: 600_000, env });
      const bundles = reach === 'inline' ? undefined : reach;
      const { red, ms, reached } = reach ? await withReach(work, bundles) : await work({});
      if (red) left.push(red);
      else this.#known.push({ ...one, ms, reached });
    });
    this.#known.sort((a, b) => a.ms - b.ms);
    const time = seconds(performance.now() - start);
    return [`${this.#known.length} test files in ${time} s`, ...left.map(notAsked)].join('\n');
  }

  /** Those that reach the place of a mutation, quickest first. */
  reaching(mutation) {
    return this.#known.filter(({ reached }) => !reached || reached.has(mutation));
  }

  /** Asks these in their order, { file, only, ms } each, until one is red. */
  async ask(copy, known) {
    const found = new AbortController();
    let answer = {};
    await inLanes(known, this.#atOnce, async (one) => {
      const { signal } = found;
      if (signal.aborted) return;
      const { red, error, late } = await this.#run(copy, one, { limit: limitOf(one.ms), signal });
      if (!red || signal.aborted) return;
      answer = { red, error, late };
      found.abort();
    });
    return answer;
  }
}
