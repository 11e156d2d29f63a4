// What a question finds, in the order in which a reader sees it. It runs in the reader's browser, and in tests.
import { queryOf, rawWord, stemOf } from './words.js';

/** The groups of results in their order, with the most that each shows. */
const groups = [
  { part: 'guides', title: 'Guides', most: 5 },
  { part: 'js', title: 'JavaScript', most: 6 },
  { part: 'cpp', title: 'C++', most: 5 },
  { part: 'project', title: 'Project', most: 3 },
];

const common = {
  boost: { name: 8, heading: 5, title: 5, text: 1, code: 0.2 },
  boostDocument: (_id, _term, { weight }) => weight ?? 1,
};

/** One after the other, while there is little: all words, the last one not yet at its end, misspelt ones, some of the words. */
const ways = [
  { combineWith: 'AND', processTerm: stemOf },
  { combineWith: 'AND', processTerm: rawWord, prefix: (_word, i, all) => i === all.length - 1 },
  { combineWith: 'AND', processTerm: stemOf, fuzzy: 0.2 },
  { combineWith: 'OR', processTerm: stemOf, fuzzy: 0.1 },
];
/** Below this many results another way is tried. */
const ENOUGH = 20;

function matches(index, question) {
  const seen = new Map();
  let less = 1;
  for (const { combineWith, ...way } of ways) {
    if (seen.size >= ENOUGH || (combineWith === 'OR' && seen.size > 0)) break;
    const query = queryOf(question, combineWith);
    for (const result of index.search(query, { ...common, ...way, combineWith })) {
      if (!seen.has(result.id)) seen.set(result.id, { ...result, score: result.score * less });
    }
    less /= 20;
  }
  return [...seen.values()];
}

/** Whether somebody wrote a name as programs have it: kvCache, LanguageModel, qkv::attention, multi_head_attention. */
const isCode = (question) => /^[\w:.]+$/.test(question) && /[_:.]|[a-z\d][A-Z]/.test(question);

/** A name in the spelling of both languages. */
const spelt = (name) => name.replaceAll('_', '').toLowerCase();

/**
 * The functions and types of a name: in the language that spells it so first, and exactly so before other spellings. The name of the
 * package before it says nothing.
 */
function named(results, question) {
  const isCpp = /_|::/.test(question);
  const name = question.replaceAll('::', '.').replace(/^qkv\./, '');
  const count = name.split('.').length;
  const end = (label) => label.split(/\.|::/).slice(-count).join('.');
  const rank = ({ label, part }) =>
    (end(label) === name ? 0 : 2) + ((part === 'cpp') === isCpp ? 0 : 1);
  return results
    .filter(({ label }) => label && spelt(end(label)) === spelt(name))
    .sort((a, b) => rank(a) - rank(b));
}

/**
 * Of each page the section that fits best. The page with the best one is first, where the other sections of a page count a little:
 * a guide that is about something says so more than once. A function or a key of the reference counts as a page.
 */
function onePerPage(results) {
  const pages = new Map();
  for (const result of results) {
    const page = result.label ? result.label + result.part : result.url.replace(/#.*/, '');
    const first = pages.get(page);
    if (first) first.total += result.score / 4;
    else pages.set(page, { ...result, total: result.score });
  }
  return [...pages.values()].sort((a, b) => b.total - a.total);
}

const grouped = (results, note = '') =>
  groups.map(({ part, title, most }) => ({
    title: title + note,
    results: results.filter((result) => result.part === part).slice(0, most),
  }));

/**
 * The groups of what is found, none of them empty: { title, results }, guides first. A name as programs have it finds what has that
 * name before everything. Pages in the language of the reader's page, or of the question, come before others.
 */
export function find(index, text, { chinese = false } = {}) {
  const question = text.trim().replace(/\(\)$/, '');
  if (!question) return [];
  const results = onePerPage(matches(index, question));
  const exact = isCode(question) ? named(results, question).slice(0, 5) : [];
  const rest = results.filter((result) => !exact.includes(result));
  const inChinese = chinese || /\p{Script=Han}/u.test(question);
  const own = rest.filter((result) => Boolean(result.chinese) === inChinese);
  const foreign = rest.filter((result) => Boolean(result.chinese) !== inChinese);
  return [
    { title: 'By this name', results: exact },
    ...grouped(own),
    ...(inChinese
      ? grouped(foreign, ' (English)')
      : [{ title: '中文', results: foreign.slice(0, 3) }]),
  ].filter((group) => group.results.length > 0);
}
