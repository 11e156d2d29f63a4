/** Numbers in [-1, 1), the same on every host and in native_bench.cpp: the top 24 bits of an LCG. */
export function random(seed, count) {
  const numbers = new Float32Array(count);
  let state = seed >>> 0;
  for (let i = 0; i < count; i += 1) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    numbers[i] = (state >>> 8) / 2 ** 23 - 1;
  }
  return numbers;
}
