/** The index of the largest number, of equal ones the first; 0 of none. */
export const largestAt = (values: Float32Array): number =>
  values.reduce((most, value, i) => (value > values[most]! ? i : most), 0);
