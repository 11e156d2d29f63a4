// Where a run stands, in a file: a run that is interrupted resumes from there to the same bits.
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';

const PARTS = ['value', 'first', 'second'];

/** Writes all numbers of a trainer, and what is known of the run; `known.step` steps are done. */
export async function writeCheckpoint(path, trainer, known) {
  const arrays = [];
  for (let i = 0; i < trainer.arrays.length; ++i) {
    for (const part of PARTS) arrays.push(Buffer.from((await trainer.read(i, part)).buffer));
  }
  // Renamed when it is whole: an interrupted write leaves the one before.
  writeFileSync(
    `${path}.new`,
    Buffer.concat([Buffer.from(`${JSON.stringify(known)}\n`), ...arrays]),
  );
  renameSync(`${path}.new`, path);
}

/** What was known when the file was written, its numbers written into the trainer; null where there is no file of this run. */
export async function readCheckpoint(path, trainer, run) {
  if (!existsSync(path)) return null;
  const bytes = readFileSync(path);
  const end = bytes.indexOf(10);
  const { run: of, ...known } = JSON.parse(bytes.subarray(0, end).toString());
  if (JSON.stringify(of) !== JSON.stringify(run)) return null;
  let at = end + 1;
  for (const [i, { shape }] of trainer.arrays.entries()) {
    const size = 4 * shape.reduce((product, extent) => product * extent, 1);
    for (const part of PARTS) {
      const numbers = new Float32Array(
        bytes.buffer.slice(bytes.byteOffset + at, bytes.byteOffset + at + size),
      );
      await trainer.write(i, part, numbers);
      at += size;
    }
  }
  await trainer.setSteps(known.step);
  return known;
}

export const removeCheckpoint = (path) => rmSync(path, { force: true });
