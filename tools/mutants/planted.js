// In a copy of the tree with planted faults, each is a choice between the source as it is and the fault:
// qkvPlanted?.(7) ? fault : source. NODE_OPTIONS loads this file first. QKV_FAULT is the number of the fault that acts;
// the numbers that a test comes by are appended to the file QKV_REACHED, if there is one.
import { appendFileSync } from 'node:fs';

const acting = Number(process.env.QKV_FAULT ?? 0);
const file = process.env.QKV_REACHED;
const reached = new Set();

globalThis.qkvPlanted = (number) => {
  if (file && !reached.has(number)) {
    reached.add(number);
    appendFileSync(file, `${number}\n`);
  }
  return number === acting;
};
