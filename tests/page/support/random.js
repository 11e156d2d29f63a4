/** Numbers between 0 and 1 that look random, the same every time: the generator of Park and Miller. */
export function randomOf(seed) {
  let x = seed;
  return () => {
    x = (x * 48271) % 2147483647;
    return x / 2147483647;
  };
}
