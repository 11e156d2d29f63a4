// Numbers of float16, by their bits.

const words = new Float32Array(1);
const bitsOf = new Uint32Array(words.buffer);

/** The bits of the float16 that is nearest to a number; ties go to the even one. */
export function float16(value) {
  words[0] = value;
  const bits = bitsOf[0];
  const sign = (bits >>> 16) & 0x8000;
  const magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7e00;
  if (magnitude >= 0x477ff000) return sign | 0x7c00; // from half an ulp above the largest on: infinity
  if (magnitude < 0x38800000) {
    // Subnormal: adding 1/2 aligns the last place of a float32 with that of the float16 and rounds.
    words[0] = Math.abs(value) + 0.5;
    return sign | (bitsOf[0] - 0x3f000000);
  }
  const odd = (magnitude >>> 13) & 1;
  return sign | ((magnitude - 0x38000000 + 0xfff + odd) >>> 13);
}

/** The number that the bits of a float16 say. */
export function fromFloat16(bits) {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >>> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return exponent === 0
    ? sign * fraction * 2 ** -24
    : sign * (1024 + fraction) * 2 ** (exponent - 25);
}
