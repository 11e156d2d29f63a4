/** The index of the largest number, of equal ones the first; 0 of none. */
export function largestAt(values: ArrayLike<number>): number {
  let most = 0;
  for (let i = 1; i < values.length; i++) if (values[i]! > values[most]!) most = i;
  return most;
}
