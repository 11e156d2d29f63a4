// Numbers of float16.

/** The float16 nearest to x, ties to even; for sizes up to 65504. */
export function toHalf(x) {
  if (x === 0 || !Number.isFinite(x)) return x;
  const exponent = Math.max(Math.floor(Math.log2(Math.abs(x))), -14);
  const unit = 2 ** (exponent - 10);
  const whole = Math.floor(x / unit);
  const rest = x / unit - whole;
  const up = rest > 0.5 || (rest === 0.5 && whole % 2 !== 0);
  return (whole + (up ? 1 : 0)) * unit;
}
