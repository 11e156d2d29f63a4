// Texts as words and pieces of words: at each place of a text the token is the longest one of a list that stands there.

/** Encodes and decodes by a list of texts; `json` is what a file of a model says of it. As in wasm/src/models/tokenizers. */
export function pieceTokenizer(tokens) {
  const numbers = new Map(tokens.map((token, id) => [token, id]));
  const longest = Math.max(...tokens.map(({ length }) => length));
  /** The longest token at a place; where the text begins, the space before a word may be missing. */
  function at(text, place) {
    for (let length = longest; length > 0; --length) {
      const part = text.slice(place, place + length);
      const id = numbers.get(part) ?? (place === 0 ? numbers.get(` ${part}`) : undefined);
      if (id !== undefined) return { id, end: place + part.length };
    }
    throw new Error(`${JSON.stringify(text.slice(place, place + 1))} begins no token`);
  }
  return {
    tokens,
    encode(text) {
      const ids = [];
      for (let place = 0; place < text.length;) {
        const { id, end } = at(text, place);
        ids.push(id);
        place = end;
      }
      return Int32Array.from(ids);
    },
    decode: (ids) => Array.from(ids, (id) => tokens[id]).join(''),
    json: { type: 'pieces', tokens },
  };
}

/** Words with the space before them, numbers and signs: no piece is of two of them. */
const PARTS = / ?[A-Za-z]+| ?\d+| ?[^A-Za-z\d\s]|\s/g;

/** Of every pair of neighbours, how often it occurs, and in which words. */
class Pairs {
  #counts = new Map();
  #words = new Map();

  add({ symbols, count }, word, sign) {
    for (let i = 0; i + 1 < symbols.length; ++i) {
      const pair = `${symbols[i]}\0${symbols[i + 1]}`;
      this.#counts.set(pair, (this.#counts.get(pair) ?? 0) + sign * count);
      if (!this.#words.has(pair)) this.#words.set(pair, new Set());
      this.#words.get(pair).add(word);
    }
  }

  /** The pair that occurs most often; of several the first by the alphabet. */
  commonest() {
    let [best, most] = ['', 0];
    for (const [pair, count] of this.#counts) {
      if (count > most || (count === most && pair < best)) [best, most] = [pair, count];
    }
    return { pair: best.split('\0'), words: [...this.#words.get(best)] };
  }
}

/** Symbols with every occurrence of a pair as one symbol. */
function merged(symbols, [left, right]) {
  const all = [];
  for (let i = 0; i < symbols.length; ++i) {
    const both = symbols[i] === left && symbols[i + 1] === right;
    all.push(both ? left + right : symbols[i]);
    if (both) ++i;
  }
  return all;
}

/**
 * `count` pieces of a text, in the order of their code points: its characters, and what byte-pair encoding (Sennrich et al. 2016)
 * joins of them, the commonest pair of neighbours first.
 */
export function piecesOf(text, count) {
  const counts = new Map();
  for (const [part] of text.matchAll(PARTS)) counts.set(part, (counts.get(part) ?? 0) + 1);
  const words = Array.from(counts, ([part, times]) => ({ symbols: [...part], count: times }));
  const pieces = new Set(words.flatMap(({ symbols }) => symbols));
  const pairs = new Pairs();
  words.forEach((word, i) => pairs.add(word, i, 1));
  while (pieces.size < count) {
    const { pair, words: those } = pairs.commonest();
    pieces.add(pair.join(''));
    for (const i of those) {
      const word = words[i];
      pairs.add(word, i, -1);
      word.symbols = merged(word.symbols, pair);
      pairs.add(word, i, 1);
    }
  }
  return [...pieces].sort((a, b) => (a < b ? -1 : 1));
}
