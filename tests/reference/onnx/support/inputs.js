// Inputs of the cases: small fractions, which float16, float32 and float64 all hold exactly, and which depend
// on the name of the case alone, so that a new case changes no other.

/** Integers in [0, n) by the linear congruence of Numerical Recipes; only its upper bits are used. */
function integers(name) {
  let state = 0x811c9dc5;
  for (const char of name) state = Math.imul(state ^ char.charCodeAt(0), 0x01000193);
  return (n) => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    return Math.floor(((state >>> 8) / 2 ** 24) * n);
  };
}

const sizeOf = (shape) => shape.reduce((product, extent) => product * extent, 1);

/** Makes arrays of quarters in [-2, 2]; `most` and `step` change that. */
export function fractions(name) {
  const next = integers(name);
  return (shape, { most = 2, step = 1 / 4 } = {}) =>
    f32(
      shape,
      Array.from({ length: sizeOf(shape) }, () => next((2 * most) / step + 1) * step - most),
    );
}

export const f32 = (shape, data) => ({ dtype: 'f32', shape, data });
export const f16 = ({ shape, data }) => ({ dtype: 'f16', shape, data });
export const i64 = (shape, data) => ({ dtype: 'i64', shape, data });

/** A boolean mask from words of its rows, such as '1101 0110'. */
export const bool = (shape, rows) => ({
  dtype: 'bool',
  shape,
  data: [...rows.replaceAll(' ', '')].map(Number),
});

/**
 * The inputs of an Attention: Q, K and V. With `flat` they are 3D, heads side by side; `past` adds a cache of that many tokens,
 * `lengths` a nonpad_kv_seqlen, and `mask` an array, or fractions if it is a shape.
 */
function problem(name, sizes = {}) {
  const { batch = 1, heads = 2, kvHeads = heads, tq = 3, tk = 4, d = 2, dV = d } = sizes;
  const { flat = false, past, lengths, mask } = sizes;
  const make = fractions(name);
  const shapeOf = (count, tokens, width) =>
    flat ? [batch, tokens, count * width] : [batch, count, tokens, width];
  return {
    Q: make(shapeOf(heads, tq, d)),
    K: make(shapeOf(kvHeads, tk, d)),
    V: make(shapeOf(kvHeads, tk, dV)),
    ...(past !== undefined && {
      past_key: make([batch, kvHeads, past, d]),
      past_value: make([batch, kvHeads, past, dV]),
    }),
    ...(lengths && { nonpad_kv_seqlen: i64([batch], lengths) }),
    ...(mask && { attn_mask: Array.isArray(mask) ? make(mask) : mask }),
  };
}

/** A case of Attention; see problem() for the sizes. `rest` may name its outputs or bend its inputs. */
export function attentionCase(name, sizes, attributes = {}, { bend, ...rest } = {}) {
  const { heads = 2, kvHeads = heads, flat } = sizes;
  const counts = flat ? { q_num_heads: heads, kv_num_heads: kvHeads } : {};
  const inputs = problem(name, sizes);
  const bent = bend ? { ...inputs, ...bend(inputs) } : inputs;
  return { name, attributes: { ...counts, ...attributes }, inputs: bent, ...rest };
}
