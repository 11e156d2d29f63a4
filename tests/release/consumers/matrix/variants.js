// Which build of the package an engine must choose. The package asks its engine; this asks nobody, so that a
// probe gone wrong is seen.

/** The first release with relaxed SIMD; JavaScriptCore, which is in Safari and Bun, has it behind a flag. */
const relaxedSince = {
  Chromium: 114,
  Firefox: 145,
  Safari: Infinity,
  Node: 21,
  Deno: 2,
  Bun: Infinity,
};

/** The variant for an engine by the name of `Chromium 130`, with so many threads. */
export function variantOf(engine, threads) {
  const [name, version] = engine.split(' ');
  const since = relaxedSince[name];
  if (since === undefined) throw new Error(`nobody says since when ${name} has relaxed SIMD`);
  const arithmetic = parseInt(version) >= since ? 'relaxed' : 'simd';
  return threads > 1 ? `${arithmetic}-threads` : arithmetic;
}
