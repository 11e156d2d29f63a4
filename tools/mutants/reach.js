// Which places of TypeScript a test program reaches: V8 counts what it runs in every thread, and the source maps of
// the bundles lead from there to the sources.
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

const placeOf = ({ originalSource, originalLine, originalColumn }) =>
  `${originalSource}:${originalLine}:${originalColumn}`;

/**
 * The pieces of a bundle, of which are known how long its lines are and its source map, `data`: its length, and as origins
 * { offset, file, line, column } where each piece is, and where it came from.
 */
export function originsOf({ lineLengths, data }) {
  const sourceMap = new SourceMap(data);
  const origins = [];
  let start = 0;
  lineLengths.forEach((length, row) => {
    let from = 0;
    let entry = sourceMap.findEntry(row, 0);
    for (let column = 1; column <= length; ++column) {
      const next = column < length ? sourceMap.findEntry(row, column) : undefined;
      if (next && placeOf(next) === placeOf(entry)) continue;
      const file = /(?:^|\/)((?:wasm|web)\/src\/.*)$/.exec(entry.originalSource ?? '')?.[1];
      // A piece may begin with the space before it, which is of what stands there.
      const offset = start + Math.min(from + 1, column - 1);
      const [line, at] = [entry.originalLine + 1, entry.originalColumn];
      if (file) origins.push({ offset, file, line, column: at });
      [from, entry] = [column, next];
    }
    start += length + 1;
  });
  return { length: start, origins };
}

/** By their mappings, as many test files bundle the same. */
const inlineBundles = new Map();

/** The bundles with source maps of their own among the scripts of a coverage report, by their address. */
function inlineBundlesOf(cache = {}) {
  const found = Object.entries(cache).filter(([, { data }]) => data?.mappings);
  return new Map(
    found.map(([url, entry]) => {
      const { mappings } = entry.data;
      if (!inlineBundles.has(mappings)) inlineBundles.set(mappings, originsOf(entry));
      return [url, inlineBundles.get(mappings)];
    }),
  );
}

/** For every character of a script whether it ran: of ranges within each other the innermost counts. */
function ranIn(length, functions) {
  const ran = new Uint8Array(length);
  for (const { ranges } of functions) {
    for (const { startOffset, endOffset, count } of ranges) {
      ran.fill(count > 0 ? 1 : 0, startOffset, endOffset);
    }
  }
  return ran;
}

/** Whether each place of a coverage folder's scripts ran in any of them: by "file:line" then by column. */
function placesReached(folder, bundles) {
  const places = new Map();
  for (const name of readdirSync(folder)) {
    const report = JSON.parse(readFileSync(join(folder, name), 'utf8'));
    const inline = bundles ? new Map() : inlineBundlesOf(report['source-map-cache']);
    const inDist = (url) =>
      url.includes('/dist/') && bundles?.get(basename(url.replace(/[?#].*$/, '')));
    for (const { url, functions } of report.result) {
      const bundle = inDist(url) || inline.get(url);
      if (!bundle) continue;
      const ran = ranIn(bundle.length, functions);
      for (const { offset, file, line, column } of bundle.origins) {
        const at = `${file}:${line}`;
        if (!places.has(at)) places.set(at, new Map());
        const columns = places.get(at);
        columns.set(column, columns.get(column) || ran[offset] > 0);
      }
    }
  }
  return places;
}

/** What a test program reached. Of a line that ran in part, such as that of a short function, its columns are known as well. */
class Reached {
  #whole = new Set();
  #parts = new Map();

  constructor(places) {
    for (const [at, columns] of places) {
      const ran = [...columns.values()];
      if (ran.every(Boolean)) this.#whole.add(at);
      else if (ran.some(Boolean))
        this.#parts.set(
          at,
          [...columns].sort(([a], [b]) => a - b),
        );
    }
  }

  /** A place between two of which it is known whether they ran counts as reached if one of them did. */
  has({ file, line, column }) {
    const at = `${file}:${line}`;
    if (this.#whole.has(at)) return true;
    const columns = this.#parts.get(at) ?? [];
    const known = columns.find(([start]) => start === column);
    if (known) return known[1];
    const next = columns.findIndex(([start]) => start > column);
    const around = next < 0 ? columns.slice(-1) : columns.slice(Math.max(0, next - 1), next + 1);
    return around.some(([, ran]) => ran);
  }
}

/**
 * Runs `work` with the environment that has V8 count. Resolves to what work did and what was reached of `bundles`, or without
 * them of the bundles that bring a source map.
 */
export async function withReach(work, bundles) {
  const folder = mkdtempSync(join(tmpdir(), 'qkv-reach-'));
  try {
    const result = await work({ NODE_V8_COVERAGE: folder });
    return { ...result, reached: new Reached(placesReached(folder, bundles)) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
