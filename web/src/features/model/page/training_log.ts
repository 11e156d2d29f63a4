/** The log of a training run: what models/trainer wrote while it ran. */
export interface TrainingLog {
  readonly steps: readonly number[];
  readonly loss: readonly number[];
  readonly heldOut: readonly number[];
}

/** Out of the csv, whose comments begin with #. */
export function readLog(csv: string): TrainingLog {
  const [head = '', ...rows] = csv
    .split(/\r?\n/)
    .filter((line) => line !== '' && !line.startsWith('#'));
  const names = head.split(',');
  const column = (name: string) => {
    const at = names.indexOf(name);
    return rows.map((row) => Number(row.split(',')[at]));
  };
  return { steps: column('step'), loss: column('loss'), heldOut: column('heldOutLoss') };
}
