// Sentences of who gives what to whom, in English and in Chinese: two people are named, one of them again, and the other one gets it.
// The form of sentences with indirect objects that Wang et al. (2022, Interpretability in the Wild) took a model apart with.
import { pieceTokenizer } from './pieces.js';

/**
 * x and y are the two people in the order in which they come, B is the one who gives, A the one who gets. Of names, places and templates
 * the last ones are held out: of these names and places models see only sentences in which nobody gives anything.
 */
const ENGLISH = {
  slot: (word) => ` ${word}`,
  names: 'Mary John Anna Tom Emma Jack Kate Paul Lucy Sam Rose Mark Jane Ben Sarah Peter Alice Henry Clara Leo Ruth Adam Ella Max',
  places: 'shop park school station market garden library kitchen office beach museum hotel',
  things: 'book letter ball key ring cup hat pen pear flower',
  verbs: 'gave handed showed sent',
  giving: [
    'When x and y went to the P , B V a O to A .',
    'After x and y came to the P , B V the O to A .',
    'Then x and y were at the P . Then B V a O to A .',
    'While x was with y in the P , B V the O to A .',
    'x and y had a O . At the P , B V the O to A .',
    'In the P x met y . Then B V a O to A .',
  ],
  heldOut: [
    'When x came to the P with y , B V a O to A .',
    'After x met y in the P , B V the O to A .',
    'x was with y at the P . Then B V the O to A .',
  ],
  other: [
    'x went to the P .',
    'x had a O in the P .',
    'Then x came to the P with a O .',
    'At the P x had the O . Then x went to the Q .',
  ],
}; // oxfmt-ignore

const CHINESE = {
  slot: (word) => word,
  names: '玛丽 约翰 小明 小红 安娜 汤姆 露西 杰克 小华 小丽 小强 小芳 爱玛 彼得 爱丽 马克',
  places: '商店 公园 学校 车站 市场 花园 图书馆 厨房 办公室 海边 博物馆 旅馆',
  things: '书 信 球 钥匙 戒指 杯子 帽子 钢笔 苹果 花',
  verbs: '送给了 交给了 递给了 还给了',
  giving: [
    '当 x 和 y 去 P 时 ， B 把 O V A 。',
    'x 和 y 到了 P 以后 ， B 把 O V A 。',
    '昨天 x 和 y 在 P ， B 把 O V A 。',
    'x 在 P 遇到 y ， 然后 B 把 O V A 。',
    'x 和 y 有 O ， B 在 P 把 O V A 。',
    'x 和 y 来到 P ， B 就 把 O V A 。',
  ],
  heldOut: [
    '当 x 在 P 遇到 y 时 ， B 把 O V A 。',
    '昨天 x 和 y 去 P ， 然后 B 把 O V A 。',
    'x 和 y 到了 P ， B 就 把 O V A 。',
  ],
  other: ['x 去 P 。', 'x 在 P 有 O 。', '昨天 x 来到 P 。', 'x 在 P 有 O ， 然后 x 去 Q 。'],
};

export const LANGUAGES = { english: ENGLISH, chinese: CHINESE };
/** How many names, places and templates are held out, of each language. */
export const HELD_OUT = { names: 4, places: 2 };
/** A row: a line break, the sentence, a line break. */
export const BEGIN = '\n';

const wordsOf = (list) => list.split(' ');

/** What a word of a template is as a token: all but marks and the first word have their space before them. */
function literal(word, place, { slot }) {
  const bare = place === 0 || /^[.,]$/.test(word);
  return bare ? word : slot(word);
}

const SLOTS = ['x', 'y', 'A', 'B', 'P', 'Q', 'O', 'V'];

/** Every token of both languages: the line break, then the words in the order in which they come above. */
function tokensOf() {
  const all = Object.values(LANGUAGES).flatMap((language) => {
    const { slot, names, places, things, verbs, giving, heldOut, other } = language;
    const filled = [names, places, things, verbs].flatMap((list) => wordsOf(list).map(slot));
    const literals = [...giving, ...heldOut, ...other].flatMap((template) =>
      wordsOf(template).flatMap((word, place) =>
        SLOTS.includes(word) ? [] : [literal(word, place, language)],
      ),
    );
    return [...filled, ...literals];
  });
  return [...new Set([BEGIN, ...all])];
}

export const namesTokenizer = () => pieceTokenizer(tokensOf());

/** The words of a language that are used in training where somebody gives something, and those that are held out. */
export function partsOf(name) {
  const { names, places, things, verbs, giving, heldOut, other } = LANGUAGES[name];
  const cut = (list, count) => [list.slice(0, -count), list.slice(-count)];
  const [known, heldOutNames] = cut(wordsOf(names), HELD_OUT.names);
  const [knownPlaces, heldOutPlaces] = cut(wordsOf(places), HELD_OUT.places);
  return {
    ...{ giving, heldOut, other, things: wordsOf(things), verbs: wordsOf(verbs) },
    ...{ names: known, heldOutNames, places: knownPlaces, heldOutPlaces },
  };
}

const drawn = (random, list) => list[random.below(list.length)];

/** A sentence of a template as its tokens, and where the one who gets it stands (-1 in sentences without one). */
function written(language, template, fill) {
  const words = wordsOf(template);
  const tokens = words.map((word, place) =>
    SLOTS.includes(word) ? language.slot(fill[word]) : literal(word, place, language),
  );
  return { tokens, asked: words.indexOf('A') };
}

/**
 * A sentence in which somebody gives something. `which` names the lists that its names, places and templates are drawn from; of
 * people that are held out both are.
 */
export function givingSentence(random, name, which = {}) {
  const parts = partsOf(name);
  const { names = 'names', places = 'places', templates = 'giving' } = which;
  const people = parts[names];
  const [x, y] = random.different(2, people.length).map((i) => people[i]);
  const [A, B] = random.below(2) === 0 ? [x, y] : [y, x];
  const fill = {
    ...{ x, y, A, B, P: drawn(random, parts[places]) },
    ...{ O: drawn(random, parts.things), V: drawn(random, parts.verbs) },
  };
  const sentence = written(LANGUAGES[name], drawn(random, parts[templates]), fill);
  return { ...sentence, gets: LANGUAGES[name].slot(A), gives: LANGUAGES[name].slot(B) };
}

/** A sentence with one person, who may be any, in a place that may be any. */
export function otherSentence(random, name) {
  const { names, heldOutNames, places, heldOutPlaces, things, other } = partsOf(name);
  const all = [...places, ...heldOutPlaces];
  const fill = {
    ...{ x: drawn(random, [...names, ...heldOutNames]), P: drawn(random, all) },
    ...{ Q: drawn(random, all), O: drawn(random, things) },
  };
  return written(LANGUAGES[name], drawn(random, other), fill);
}
