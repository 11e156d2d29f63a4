/** FNV-1a over the UTF-16 code units, begun from the seed: the same text and seed, the same number. */
export function hashText(text: string, seed: number): number {
  let hash = Math.imul(0x811c9dc5 ^ seed, 0x01000193);
  for (let i = 0; i < text.length; i++) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  }
  return hash >>> 0;
}

/**
 * `count` draws from U(-bound, bound). A counter goes through the finaliser of MurmurHash3: integers
 * only, so a link shows the same weights in every browser. (Gaussians would need log and cos, which
 * engines may round differently.)
 */
export function uniform(seed: number, count: number, bound: number): Float32Array {
  const draws = new Float32Array(count);
  let counter = seed;
  for (let i = 0; i < count; i++) {
    counter = (counter + 0x9e3779b9) | 0;
    let bits = counter;
    bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
    bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
    bits = (bits ^ (bits >>> 16)) >>> 0;
    draws[i] = ((bits + 0.5) / 2 ** 31 - 1) * bound;
  }
  return draws;
}

/** An order of `count` things drawn from the seed, never the one they are in; 0 leaves them alone. */
export function permutation(seed: number, count: number): readonly number[] {
  const order = Array.from({ length: count }, (_, i) => i);
  if (seed === 0) return order;
  uniform(hashText('order', seed), count, 1).forEach((draw, i) => {
    const other = Math.floor(((draw + 1) / 2) * (i + 1)) % (i + 1);
    [order[i], order[other]] = [order[other] ?? 0, order[i] ?? 0];
  });
  const same = order.every((from, i) => from === i);
  return same ? [...order.slice(1), ...order.slice(0, 1)] : order;
}
