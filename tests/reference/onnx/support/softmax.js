// Softmax in parts, for readings of the operators that get it wrong.

/** exp() of each score relative to the largest. */
export function exponentials(scores) {
  const most = Math.max(...scores);
  return scores.map((s) => Math.exp(s - most));
}

/** Each term by the sum of all and of `extra`. */
export function shares(terms, extra = 0) {
  const sum = terms.reduce((total, term) => total + term, extra);
  return terms.map((term) => term / sum);
}

/** A row without any key is 0 / 0. */
export const unguarded = (scores) => shares(exponentials(scores));
