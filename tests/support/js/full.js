// What takes long, and finds what hardly ever breaks, is left to the full run (npm run test:full), which sets QKV_FULL.

export const full = process.env.QKV_FULL === '1';

/** Prints what this run leaves out. */
export const leaveToFullRun = (what) => console.log(`left to the full run: ${what}`);

/** How many of `all` this run takes: all in the full run, `some` in an everyday one, which prints how many it leaves out. */
export function countInRun(all, some, what) {
  if (full) return all;
  leaveToFullRun(`${all - some} of ${all} ${what}`);
  return some;
}

/** Registers tests in the full run alone. */
export function inFullRun(what, register) {
  if (full) register();
  else leaveToFullRun(what);
}
