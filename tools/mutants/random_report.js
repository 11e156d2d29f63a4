// What a run of random mutations prints.

const place = ({ file, line }) => `${file}:${line}`;

/** A text in a line of the run; the whole of it is below the table, where it lived. */
const short = (text) => (text.length > 60 ? `${text.slice(0, 57)}...` : text);

/** `-` stands for nothing at all. */
const change = ({ from, to }) => `${short(from) || '-'} -> ${short(to) || '-'}`;

function verdictOf({ verdict, red, late, error }) {
  if (verdict === 'lived') return 'LIVED';
  if (verdict === 'equivalent') return 'changes nothing, as tools/mutants/equivalent.json says';
  if (verdict !== 'killed') return verdict;
  const why = error && !late ? ` (${short(error.trim().replace(/\s+/g, ' '))})` : '';
  return `${late ? 'timed out' : 'killed'} by ${red}${why}`;
}

/** One line about one mutation; `number` is how many counted so far. */
export function describe(result, number) {
  const counted = /^(killed|lived|equivalent)$/.test(result.verdict);
  const label = counted ? `${number}`.padStart(3) : '  -';
  const seconds = `${(result.ms / 1000).toFixed(0)} s`;
  const { mutation } = result;
  return `${label} ${place(mutation)} ${mutation.kind}: ${change(mutation)}: ${verdictOf(result)} (${seconds})`;
}

/** The table at the end, and each survivor with the lines before and after. */
export function summary(results, stale) {
  const count = (test) => results.filter(test).length;
  const rows = [
    ['killed', count(({ verdict }) => verdict === 'killed')],
    ['of these timed out', count(({ late }) => late)],
    ['lived', count(({ verdict }) => verdict === 'lived')],
    ['change nothing, reviewed', count(({ verdict }) => verdict === 'equivalent')],
    ['not counted: same program', count(({ verdict }) => verdict === 'same program')],
    ['not counted: did not compile', count(({ verdict }) => verdict === 'does not compile')],
  ];
  const survivors = results.filter(({ verdict }) => verdict === 'lived');
  const lines = rows.map(([name, number]) => `${name.padEnd(30)}${String(number).padStart(4)}`);
  for (const { mutation, asked } of survivors) {
    const reached = asked === undefined ? '' : `, reached by ${asked} test files`;
    lines.push('', `survived: ${place(mutation)} (${mutation.kind}${reached})`);
    lines.push(`  before: ${mutation.before}`, `  after:  ${mutation.after}`);
  }
  for (const { file, before } of stale) {
    lines.push(
      '',
      `tools/mutants/equivalent.json: this mutation no longer exists: ${file}: ${before}`,
    );
  }
  return ['', ...lines].join('\n');
}
