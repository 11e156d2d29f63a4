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
