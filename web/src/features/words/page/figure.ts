import { stacked, text, type Figure } from '../../../ui/export_figure';
import { filePen } from '../../../ui/plot';
import { neighboursOf } from '../shared/similarity';
import { vectorOf, type WordTable } from '../shared/word_table';
import { isRight, type Judged } from './analogy_part';
import { drawPlane, drawVectors, VECTOR_LINE } from './drawings';
import type { PlaneOfWords } from './plane_of_words';
import { three } from './words_part';
import { t } from '../feature';

const WIDTH = 640;
const PLANE = 420;
const LINE = 20;
const LISTED = 8;

/** The plane, the vector of the word, its neighbours and the analogies; the table has their numbers. */
export function wordsFigure(
  table: WordTable,
  near: string,
  plane: PlaneOfWords | null,
  judged: readonly Judged[],
): Figure {
  const vector = vectorOf(table, near);
  const neighbours = neighboursOf(table, near, LISTED);
  const lines = [
    ...neighbours.map(({ word, cosine }) => t('words.near.value', { word, value: three(cosine) })),
    ...judged.map((example) => {
      const [a, b, c] = example.words;
      const [first] = example.answer.nearest;
      const verdict = t(isRight(example) ? 'words.analogy.right' : 'words.analogy.wrong');
      return `${t('words.analogy.form', { a, b, c })} ≈ ${first?.word ?? ''} ${three(first?.cosine ?? NaN)}, ${verdict}`;
    }),
  ];
  const list = lines.map((line, i) => text(0, (i + 1) * LINE - 6, line, filePen('label'))).join('');
  const { body, end } = stacked(
    [
      ...(plane ? [[PLANE, drawPlane('file', [WIDTH, PLANE], plane)] as const] : []),
      ...(vector.length > 0
        ? [[VECTOR_LINE, drawVectors('file', WIDTH, [near], [vector])] as const]
        : []),
      [lines.length * LINE, list],
    ],
    { top: 12 },
  );
  return {
    name: 'words',
    svg: { width: WIDTH + 24, height: end, body },
    table: [
      ['what', 'word', 'x', 'y', 'cosine'],
      ...(plane?.words ?? []).map((word, i) => ['plane', word, ...plane!.points[i]!, '']),
      ...neighbours.map(({ word, cosine }) => [`near ${near}`, word, '', '', cosine]),
      ...judged.flatMap(({ words, answer }) =>
        answer.nearest.map(({ word, cosine }) => [words.join(' - + '), word, '', '', cosine]),
      ),
    ],
    data: { near, vector, neighbours, plane, analogies: judged },
  };
}
