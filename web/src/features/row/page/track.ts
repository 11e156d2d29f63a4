/** What an empty and a full bar of a step mean: weights are shares of 1, other numbers of their own range. */
export function trackOf(step: string, values: Float32Array): readonly [low: number, high: number] {
  if (step === 'weight' || step === 'core') return [0, 1];
  const finite = values.filter(Number.isFinite);
  return [Math.min(0, ...finite), Math.max(0, ...finite)];
}
