// Which lines of TypeScript a test program reaches: V8 counts what it runs in every thread, and the source maps of
// the bundles lead from there to the sources.
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

/** The words of a bundle as { offset, file, line }: where they are, and where they came from. */
export function originsOf(bundle, map) {
  const sourceMap = new SourceMap(JSON.parse(map));
  const origins = [];
  let start = 0;
  bundle.split('\n').forEach((text, line) => {
    for (const { index } of text.matchAll(/[\w$.]+|[^\s\w]/g)) {
      const entry = sourceMap.findEntry(line, index);
      if (entry.originalSource === undefined) continue;
      const file = /(?:^|\/)((?:wasm|web)\/src\/.*)$/.exec(entry.originalSource)?.[1];
      if (file) origins.push({ offset: start + index, file, line: entry.originalLine + 1 });
    }
    start += text.length + 1;
  });
  return origins;
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

/** The lines, as "file:line", that the scripts of a coverage folder reached. `origins` has a list for each bundle. */
function linesReached(folder, bundles) {
  const lines = new Set();
  for (const name of readdirSync(folder)) {
    const { result } = JSON.parse(readFileSync(join(folder, name), 'utf8'));
    for (const { url, functions } of result) {
      const bundle = bundles.get(basename(url.replace(/[?#].*$/, '')));
      if (!bundle || !url.includes('/dist/')) continue;
      const ran = ranIn(bundle.length, functions);
      for (const { offset, file, line } of bundle.origins) {
        if (ran[offset]) lines.add(`${file}:${line}`);
      }
    }
  }
  return lines;
}

/** Runs `work` with the environment that has V8 count. Resolves to what work did and the lines reached. */
export async function withReach(bundles, work) {
  const folder = mkdtempSync(join(tmpdir(), 'qkv-reach-'));
  try {
    const result = await work({ NODE_V8_COVERAGE: folder });
    return { ...result, lines: linesReached(folder, bundles) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
