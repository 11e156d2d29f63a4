/** What the panel studies: random scores, or the row of the query. */
export const LAB_SCORES = ['random', 'row'] as const;
export type LabScores = (typeof LAB_SCORES)[number];
/** How many random scores, the width of their query and keys, and the variance of each component. */
export const LAB = { keys: 256, width: 64, variance: 0.5 } as const;
/** Of so many keys, those with the largest scores, the Jacobian is drawn. */
export const JACOBIAN_KEYS = 6;
/** By less than this, in nats, theory and measurement differ where the verdict is 'holds'. */
export const PROMISE = 0.04;
