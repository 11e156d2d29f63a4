// The mutations of a folder of sources, in an order that a seed decides.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../environment.js';
import { cppSites } from './sites_cpp.js';
import { tsSites } from './sites_ts.js';

const sitesOf = (file, source) => (file.endsWith('.ts') ? tsSites(source) : cppSites(source));

const flat = (text) => text.replace(/\s+/g, ' ').trim();

/** The whole lines that hold source[start..end), with `text` in its place, as one line. */
function linesWith(source, { start, end }, text) {
  const from = source.lastIndexOf('\n', start - 1) + 1;
  const to = source.indexOf('\n', end);
  return flat(source.slice(from, start) + text + source.slice(end, to < 0 ? source.length : to));
}

/**
 * Every mutation of a source: what it does in the text (start, end, text) and what a person reads (line, from,
 * to, and the lines before and after).
 */
export function mutationsOf(file, source) {
  return sitesOf(file, source).flatMap((site, number) =>
    site.others.map((text) => ({
      file,
      site: `${file} ${number}`,
      kind: site.kind,
      start: site.start,
      end: site.end,
      text,
      line: source.slice(0, site.start).split('\n').length,
      column: site.start - (source.lastIndexOf('\n', site.start - 1) + 1),
      from: flat(source.slice(site.start, site.end)),
      to: flat(text),
      before: linesWith(source, site, source.slice(site.start, site.end)),
      after: linesWith(source, site, text),
    })),
  );
}

/** A source of numbers from 0 up to 1 that a seed decides (mulberry32). */
function generator(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let bits = Math.imul(state ^ (state >>> 15), 1 | state);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), 61 | bits);
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Mutations in the order of a seed, at each site only the first of them. */
export function inOrderOf(seed, mutations) {
  const random = generator(seed);
  const order = [...mutations];
  for (let i = order.length - 1; i > 0; --i) {
    const j = Math.floor(random() * (i + 1));
    [order[i], order[j]] = [order[j], order[i]];
  }
  const seen = new Set();
  return order.filter(({ site }) => !seen.has(site) && seen.add(site));
}

/** The sources below a folder, by name: what runs, so no declarations. */
function sourcesBelow(folder) {
  return readdirSync(join(root, folder), { recursive: true })
    .map((name) => `${folder}/${name}`)
    .filter((name) => /\.(cpp|hpp|ts)$/.test(name) && !name.endsWith('.d.ts'))
    .sort();
}

/** The mutations of the files below `folder` that `holds` lets through, in the order of a seed. */
export function candidates(folder, holds, seed) {
  const files = sourcesBelow(folder).filter(holds);
  const all = files.flatMap((file) => mutationsOf(file, readFileSync(join(root, file), 'utf8')));
  return inOrderOf(seed, all);
}

/** Reviewed mutations that no test can see: { file, before, after, why }, found again by their text. */
export const equivalents = JSON.parse(
  readFileSync(join(root, 'tools/mutants/equivalent.json'), 'utf8'),
);

export const isEquivalent = (mutation, known = equivalents) =>
  known.some(
    ({ file, before, after }) =>
      file === mutation.file && before === mutation.before && after === mutation.after,
  );

/** Entries of the list that are no mutation of their file any more. */
export function staleEquivalents(known = equivalents) {
  return known.filter((entry) => {
    const source = readFileSync(join(root, entry.file), 'utf8');
    return !mutationsOf(entry.file, source).some((mutation) => isEquivalent(mutation, [entry]));
  });
}
