/** Of a group of `step` rows the last. */
export const rowOf = (group: number, step: number, count: number) =>
  Math.min(group * step + step - 1, count - 1);
