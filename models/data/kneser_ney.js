// Interpolated modified Kneser-Ney smoothing (Chen & Goodman 1998) over characters: what a model of our own is compared with.

/** Counts of 1, 2, and 3 or more lose these; 0.75 each where there are too few of them to tell (Church & Gale 1991). */
export function discountsOf(counts) {
  const [, n1, n2, n3, n4] = counts.reduce((n, c) => (c < 5 && (n[c] += 1), n), [0, 0, 0, 0, 0]);
  const y = n1 / (n1 + 2 * n2);
  const found = [1 - (2 * y * n2) / n1, 2 - (3 * y * n3) / n2, 3 - (4 * y * n4) / n3];
  return found.every((d, i) => d > 0 && d <= i + 1) ? found : [0.75, 0.75, 0.75];
}

/** How often each string of n characters occurs. */
function occurrences(text, n) {
  const counts = new Map();
  for (let i = 0; i + n <= text.length; ++i) {
    const gram = text.slice(i, i + n);
    counts.set(gram, (counts.get(gram) ?? 0) + 1);
  }
  return counts;
}

/** Of each string of n - 1 characters: how many different characters stand before it. */
function continuations(longer) {
  const counts = new Map();
  for (const gram of longer.keys()) {
    const rest = gram.slice(1);
    counts.set(rest, (counts.get(rest) ?? 0) + 1);
  }
  return counts;
}

/** What one order needs: counts, and of each context their sum and what its discounts leave for the order below. */
function tableOf(counts) {
  const discounts = discountsOf([...counts.values()]);
  const contexts = new Map();
  for (const [gram, count] of counts) {
    const key = gram.slice(0, -1);
    const context = contexts.get(key) ?? { total: 0, left: 0 };
    context.total += count;
    context.left += discounts[Math.min(count, 3) - 1];
    contexts.set(key, context);
  }
  return { counts, discounts, contexts };
}

/**
 * A model of strings of up to `order` characters, of which there are `vocabulary`. With h the characters before w, h' the same
 * without the first, c the count of the highest order and below it the number of different characters before a string:
 *
 *     p(w | h) = (c(hw) - D(c(hw))) / c(h) + left(h) / c(h) p(w | h')        p(w) below all orders: 1 / vocabulary
 */
export function kneserNey(text, { order, vocabulary }) {
  let counts = occurrences(text, order);
  const tables = [tableOf(counts)];
  while (tables.length < order) {
    counts = continuations(counts);
    tables.unshift(tableOf(counts));
  }
  /** Of the last character of a string, after those before it. */
  const probability = (gram) => {
    let p = 1 / vocabulary;
    for (let n = 1; n <= gram.length; ++n) {
      const { counts, discounts, contexts } = tables[n - 1];
      const part = gram.slice(-n);
      const context = contexts.get(part.slice(0, -1));
      if (!context) break;
      const count = counts.get(part) ?? 0;
      const kept = count > 0 ? count - discounts[Math.min(count, 3) - 1] : 0;
      p = (kept + context.left * p) / context.total;
    }
    return p;
  };
  return {
    probability,
    /** Mean of -ln p over all characters but the first, each after as many as the order reads. */
    loss(held) {
      let sum = 0;
      for (let i = 1; i < held.length; ++i) {
        sum -= Math.log(probability(held.slice(Math.max(0, i - order + 1), i + 1)));
      }
      return sum / (held.length - 1);
    },
  };
}
