// Whether Chinese lines rhyme as they are read today: by the thirteen rhyme groups of northern verse (shisan zhe) of their last characters.
// Tang poets rhymed by the sounds of their time, so that a part of their rhymes is none now.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { fetchArchive } from './fetch.js';

export const archive = {
  from: 'npm',
  name: 'pinyin-pro',
  version: '3.29.4',
  sha256: '433bc66ce6bcc23ff293b268a39452461e92987b9a13eefb7242cbe3103998cd',
  bytes: 320757,
  license: 'MIT',
};

/** Finals of each group, as pinyin writes them; `i` after zh, ch, sh, r, z, c and s is one with others here. */
const groups = [
  ...[['a', 'ia', 'ua'], ['o', 'e', 'uo'], ['ie', 'üe', 'ue', 'ê'], ['i', 'ü', 'er'], ['u']],
  ...[['ai', 'uai'], ['ei', 'ui', 'uei'], ['ao', 'iao'], ['ou', 'iu', 'iou']],
  ...[['an', 'ian', 'uan', 'üan'], ['en', 'in', 'un', 'ün', 'uen'], ['ang', 'iang', 'uang']],
  ['eng', 'ing', 'ueng', 'ong', 'iong'],
]; // oxfmt-ignore
const groupOf = new Map(groups.flatMap((finals, group) => finals.map((final) => [final, group])));

/** Whether two characters rhyme in one of their readings; finals(character) gives those of all. */
export const rhymer = (finals) => (a, b) => {
  const groupsOf = (character) => finals(character).map((final) => groupOf.get(final));
  const known = new Set(groupsOf(a).filter((group) => group !== undefined));
  return groupsOf(b).some((group) => known.has(group));
};

/** The characters at the ends of the second and the fourth line, which rhyme in a quatrain. */
export const endsOf = (text) => [...text.matchAll(/(.)。/gu)].map(([, character]) => character);

/** Whether two characters rhyme, as a function of them. */
export async function readRhymes() {
  const place = await fetchArchive(archive);
  const { pinyin } = await import(pathToFileURL(join(place, 'package/dist/index.mjs')).href);
  const how = { pattern: 'final', toneType: 'none', type: 'array', multiple: true };
  return rhymer((character) => pinyin(character, how));
}
