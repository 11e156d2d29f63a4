import { mixed, STEP } from '../domain/random_ints';

/** FNV-1a over the UTF-16 code units, begun from the seed: the same text and seed, the same number. */
export function hashText(text: string, seed: number): number {
  let hash = Math.imul(0x811c9dc5 ^ seed, 0x01000193);
  for (let i = 0; i < text.length; i++) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  }
  return hash >>> 0;
}

/** 32 bits as a number between -1 and 1, neither of them nor 0 included. */
const signed = (bits: number) => (bits + 0.5) / 2 ** 31 - 1;

/**
 * `count` draws from U(-bound, bound). A counter goes through a hash: integers only, so a link shows the
 * same weights in every browser.
 */
export function uniform(seed: number, count: number, bound: number): Float32Array {
  const draws = new Float32Array(count);
  let counter = seed;
  for (let i = 0; i < count; i++) {
    counter = (counter + STEP) | 0;
    draws[i] = signed(mixed(counter)) * bound;
  }
  return draws;
}

/** ln x for 0 < x < 1 to about 1e-14, by multiplications and additions alone. */
function logarithm(x: number): number {
  let mantissa = x;
  let halvings = 0;
  while (mantissa < Math.SQRT1_2) {
    mantissa *= 2;
    halvings++;
  }
  const t = (mantissa - 1) / (mantissa + 1);
  const s = t * t; // ln is 2 artanh t, here its series up to t^15
  const low = 1 + s * (1 / 3 + s * (1 / 5 + s * (1 / 7 + s / 9)));
  const high = 1 / 11 + s * (1 / 13 + s / 15);
  return 2 * t * (low + s * s * s * s * s * high) - halvings * Math.LN2;
}

/**
 * Fills arrays of even length with draws from N(0, 1), one after the other, by Marsaglia's polar method.
 * Math.log may round differently from one browser to another; what is used here may not.
 */
export function normals(seed: number): (into: Float32Array) => void {
  let counter = seed;
  return (into) => {
    for (let i = 0; i < into.length; i += 2) {
      let u = 0;
      let v = 0;
      let square = 1;
      while (square >= 1) {
        u = signed(mixed((counter = (counter + STEP) | 0)));
        v = signed(mixed((counter = (counter + STEP) | 0)));
        square = u * u + v * v;
      }
      const factor = Math.sqrt((-2 * logarithm(square)) / square);
      into[i] = u * factor;
      into[i + 1] = v * factor;
    }
  };
}

/** An order of `count` things drawn from the seed, never the one they are in; 0 leaves them alone. */
export function permutation(seed: number, count: number): readonly number[] {
  const order = Array.from({ length: count }, (_, i) => i);
  if (seed === 0) return order;
  uniform(hashText('order', seed), count, 1).forEach((draw, i) => {
    const other = Math.floor(((draw + 1) / 2) * (i + 1)) % (i + 1);
    [order[i], order[other]] = [order[other]!, order[i]!];
  });
  const same = order.every((from, i) => from === i);
  return same ? [...order.slice(1), ...order.slice(0, 1)] : order;
}
