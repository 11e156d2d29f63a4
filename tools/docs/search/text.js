// What texts out of both halves have in common.

export const entities = { lt: '<', gt: '>', amp: '&', quot: '"', '#39': "'", nbsp: ' ' };

/** The beginning of a text, up to the end of a word. */
export const excerptOf = (text) =>
  text.length > 140 ? `${text.slice(0, 140).replace(/\s+\S*$/, '')} …` : text;
