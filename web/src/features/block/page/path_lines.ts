import { PATHS, STREAM, type NormPlace, type TapId } from '../shared/constants';

/** Height of a row of the path, and where the stream and what branches off it run; in pixels, as in style.css. */
export const ROW = 44;
const LANES = 60;
const STREAM_X = 16;
const BRANCH_X = 42;
const TURN = 12;

const middle = (row: number) => (row + 0.5) * ROW;

function dot(id: TapId, onStream: boolean, row: number): string {
  const y = middle(row);
  if (!onStream) return `<circle class="node" cx="${BRANCH_X}" cy="${y}" r="4"/>`;
  if (id === 'norm1' || id === 'norm2') {
    return `<rect class="node stop" x="${STREAM_X - 8}" y="${y - 7}" width="16" height="14" rx="3"/>`;
  }
  const plus = `<path class="plus" d="M${STREAM_X - 5} ${y}h10M${STREAM_X} ${y - 5}v10"/>`;
  const sum = id === 'sum1' || id === 'sum2';
  return `<circle class="node stop" cx="${STREAM_X}" cy="${y}" r="9"/>${sum ? plus : ''}`;
}

/** Off the stream between two rows, along the branch, and back into the stream at a sum. */
function branch(from: number, to: number): string {
  const [start, end] = [middle(from) + ROW / 2, middle(to)];
  const out = `M${STREAM_X} ${start}H${BRANCH_X - TURN}q${TURN} 0 ${TURN} ${TURN}`;
  const back = `V${end - TURN}q0 ${TURN} ${-TURN} ${TURN}H${STREAM_X + 14}`;
  const tip = `M${STREAM_X + 17} ${end - 4}l-6 4l6 4`;
  return `<path class="branch" d="${out}${back}"/><path class="branch" d="${tip}"/>`;
}

/** The stream as a highway, what leaves it, and what comes back. */
export function pathLines(place: NormPlace, path: readonly TapId[] = PATHS[place]): string {
  const onStream = (id: TapId) => STREAM[place].includes(id);
  const last = path.length - 1;
  const branches = path.flatMap((id, row) => {
    const next = path[row + 1];
    if (!onStream(id) || !next || onStream(next)) return [];
    const back = path.findIndex((other, at) => at > row && onStream(other));
    return [branch(row, back)];
  });
  const stream = `<path class="stream" d="M${STREAM_X} ${middle(0)}V${middle(last)}"/>`;
  const dots = path.map((id, row) => dot(id, onStream(id), row));
  const size = `width="${LANES}" height="${path.length * ROW}"`;
  return `<svg class="block-lines" ${size} aria-hidden="true">${stream}${branches.join('')}${dots.join('')}</svg>`;
}
