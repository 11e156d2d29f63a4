// Texts as numbers: a token is a character, its number the place of it in a list.

/** Encodes and decodes by a list of characters; `json` is what a file of a model says of it. */
export function characterTokenizer(tokens) {
  const numbers = new Map(tokens.map((token, id) => [token, id]));
  return {
    tokens,
    encode(text) {
      return Int32Array.from(text, (token) => {
        const id = numbers.get(token);
        if (id === undefined) throw new Error(`${JSON.stringify(token)} is no token`);
        return id;
      });
    },
    decode: (ids) => Array.from(ids, (id) => tokens[id]).join(''),
    json: { type: 'characters', tokens },
  };
}

/** The characters of a text in the order of their code points. */
export const charactersOf = (text) =>
  [...new Set(text)].sort((a, b) => a.codePointAt(0) - b.codePointAt(0));
