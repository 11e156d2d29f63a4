// Which type each tensor of a file has, as `llama-quantize` of llama.cpp chooses it (src/llama-quant.cpp).

/** Numbers of a block, and what is taken for rows that have no whole blocks. */
const wide = { Q4_K: 'Q5_0', Q6_K: 'Q8_0' };

/** Layers that get more bits: the first and the last eighth, and of the others each third. */
const moreBits = (layer, layers) => {
  const eighth = Math.floor(layers / 8);
  const last = Math.floor((7 * layers) / 8);
  return layer < eighth || layer >= last || (layer - eighth) % 3 === 2;
};

function wanted(format, name, layers) {
  if (!/^Q4/.test(format)) return format;
  // The output, which here is the embedding.
  if (name === 'token_embd.weight') return 'Q6_K';
  if (format !== 'Q4_K_M') return format;
  const [, layer, part] = /^blk\.(\d+)\.(.*)\.weight$/.exec(name);
  return /^(attn_v|ffn_down)$/.test(part) && moreBits(Number(layer), layers) ? 'Q6_K' : 'Q4_K';
}

/** The type of a tensor in a file of a format; norms and biases are always F32. */
export function typeOf(format, { name, shape }, { layers }) {
  if (shape.length === 1) return 'F32';
  const type = wanted(format, name, layers);
  return wide[type] && shape[1] % 256 !== 0 ? wide[type] : type;
}
