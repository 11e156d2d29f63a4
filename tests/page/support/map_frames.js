// Frames of the map that a test makes, and its parts on a page with them. For window.js.
export const tokensOf = (count) => Array.from({ length: count }, (_, i) => `t${i}`);
/** A row of weights that differ by head, row and key; of equal scores where `even`. */
export function rowOf(count, head, row, mask, even = false) {
  const end = mask === 'none' ? count : row + 1;
  const first = mask === 'window' ? Math.max(0, row - 3) : 0;
  const scores = Float32Array.from({ length: count }, (_, key) => {
    if (key < first || key >= end) return -Infinity;
    return even ? 0 : Math.round(8 * Math.sin(1 + 3 * head + 5 * row + 7 * key)) / 4;
  });
  const powers = Array.from(scores, Math.exp);
  const sum = powers.reduce((a, b) => a + b, 0);
  const weights = Float32Array.from(powers, (power) => power / sum);
  const entropy = -weights.reduce((h, p) => h + (p > 0 ? p * Math.log(p) : 0), 0);
  const largest = weights.indexOf(Math.max(...weights));
  return { row, weights, scores, entropy, lse: Math.log(sum), largest };
}

export function frameOf({
  tokens = tokensOf(4),
  head = 0,
  other = null,
  mask = 'causal',
  ...more
} = {}) {
  const count = tokens.length;
  const { show = 'weights', query = 2, described = query, source = 'constructed', ...rest } = more;
  const row = (of, at) => (at === null ? null : rowOf(count, of, at, mask, more.even));
  const few = count <= 64 && count > 0;
  const matrix = Array.from({ length: count }, (_, at) => [
    ...rowOf(count, head, at, mask).weights,
  ]);
  return {
    request: {
      layer: {
        ...{ tokens, mask, source, seed: 7, temperature: 1, positions: 'sinusoidal' },
        trainedHeads: null,
      },
      view: { head, other, show, query, described },
      surfaces: {},
    },
    ...{ query: row(head, query), described: row(head, described), range: 1, step: 1, numHeads: 6 },
    otherDescribed: other === null ? null : row(other, described),
    matrix: few ? Float32Array.from(matrix.flat()) : null,
    ...rest,
  };
}

export const report = (...numbers) => ({
  heads: numbers.map(([entropy, distance, first, rank]) => ({ entropy, distance, first, rank })),
});
export const REPORT = report(
  ...[
    [1.5, 2, 0.25, 3],
    [0.5, 1, 0.75, NaN],
    [1.5, 3, 0.5, 2],
  ],
  ...[
    [0.25, 0, 1, NaN],
    [1, 2, 0.125, 4],
    [0.75, 5, 0, 1],
  ],
);

/** What panels are handed in such a state, and how parts are put on the page; fields of a state are those of `initial` otherwise. */
export function mapScene(initial) {
  /** What panels are handed: the tokens of the frame, unless it has its own. */
  function viewOf({ frame = frameOf(), state = {}, ...more } = {}) {
    return {
      ...{
        state: { ...initial, ...state },
        frame,
        report: null,
        look: 1,
        query: 2,
        theme: 'light',
        model: { info: null },
      },
      list: { tokens: frame?.request.layer.tokens ?? tokensOf(4) },
      engine: { kind: 'ready' },
      heads: { source: state.source ?? 'constructed', trainedHeads: null },
      ...more,
    };
  }

  /** An element on the page, `show`, which hands it a view, and what of it stands on the page. */
  function put(name, inner = '') {
    const holder = document.createElement('div');
    holder.innerHTML = `<${name}>${inner}</${name}>`;
    document.body.append(holder);
    const part = holder.firstChild;
    const find = (selector) => part.querySelector(selector);
    const texts = (selector) =>
      [...part.querySelectorAll(selector)].map(({ textContent }) => textContent);
    return { part, show: (more) => part.update(viewOf(more)), find, texts };
  }
  return { viewOf, put };
}
