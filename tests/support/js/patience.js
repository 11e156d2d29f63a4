/** When a wait or a test counts as hung, in ms. A machine that shares its processors may be ten times as slow. */
export const PATIENCE = { wait: 180_000, test: 600_000 };
