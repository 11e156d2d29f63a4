// In a copy of the tree with planted faults, each is a choice between the source as it is and the fault:
// qkvPlanted(7) ? fault : source. Every file with faults begins with this text. QKV_FAULT is the number of the fault that acts;
// the numbers that a test comes by are appended to the file QKV_REACHED, if there is one.
const { env } = globalThis.process ?? { env: {} };
const acting = Number(env.QKV_FAULT ?? 0);
const reached = new Set();

function note(number) {
  reached.add(number);
  try {
    process.getBuiltinModule('node:fs').appendFileSync(env.QKV_REACHED, `${number}\n`);
  } catch {
    // A program that may not write.
  }
}

export function qkvPlanted(number) {
  if (env.QKV_REACHED && !reached.has(number)) note(number);
  return number === acting;
}
