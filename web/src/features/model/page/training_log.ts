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

/** What the page draws of the log of a training run. */
const COLUMNS = ['step', 'loss', 'heldOutLoss'];

/** A log of models/trainer with these columns alone, without its comments. */
export function columnsOf(csv: string): string {
  const lines = csv.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const names = lines[0]?.split(',') ?? [];
  const places = COLUMNS.map((name) => names.indexOf(name));
  return lines
    .map((line) => {
      const cells = line.split(',');
      return places.map((place) => cells[place]).join();
    })
    .join('\n');
}
