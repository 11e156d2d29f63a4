// What takes long, and finds what hardly ever breaks, is left to the full run (npm run test:full), which sets QKV_FULL.

export const full = process.env.QKV_FULL === '1';

/** Says what this run leaves out. */
export const leaveToFullRun = (what) => console.log(`left to the full run: ${what}`);

/** Registers tests in the full run alone. */
export function inFullRun(what, register) {
  if (full) register();
  else leaveToFullRun(what);
}
