// Which build of the package an engine must choose. The package asks its engine; this asks nobody, so that a
// probe gone wrong is seen.

/** The first releases with relaxed SIMD. WebKit switched it on in July 2026, after Safari 26; Bun 1.4 has that. */
const relaxedSince = { Chromium: 114, Firefox: 145, Safari: 27, Node: 21, Deno: 2, Bun: 1.4 };

/** The variant for an engine by the name of `Chromium 130`, with so many threads. */
export function variantOf(engine, threads) {
  const [name, version] = engine.split(' ');
  const since = relaxedSince[name];
  if (since === undefined) throw new Error(`nobody says since when ${name} has relaxed SIMD`);
  const arithmetic = parseFloat(version) >= since ? 'relaxed' : 'simd';
  return threads > 1 ? `${arithmetic}-threads` : arithmetic;
}
