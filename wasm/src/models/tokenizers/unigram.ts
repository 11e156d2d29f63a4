// The unigram model of SentencePiece (Kudo 2018): of all ways to cut a text into pieces, the one whose scores have the largest sum
// (Viterbi).

export interface Unigram {
  /** Pieces with their ids and scores. */
  readonly pieces: Iterable<readonly [text: string, id: number, score: number]>;
  /** The score of a letter that is no piece. */
  readonly unknownScore: number;
}

/** How much less likely a letter that is no piece is than any piece. */
export const unknownPenalty = 10;

/** A piece of a text; of letters in a row that are no pieces one, without an id. */
interface Cutting {
  readonly text: string;
  readonly id: number | undefined;
}

interface Piece {
  readonly id: number;
  readonly score: number;
}

/** Where the best way to a place comes from. */
interface Step {
  readonly from: number;
  readonly id: number | undefined;
  readonly sum: number;
}

/** Units of UTF-16 of the letter at a place: 1 or 2. */
const letterAt = (text: string, at: number): number =>
  (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;

/** How such a model cuts a text. */
export function unigram({ pieces, unknownScore }: Unigram): (text: string) => Cutting[] {
  const byText = new Map<string, Piece>();
  /** The lengths of pieces by what they begin with, in increasing order. */
  const lengths = new Map<string, number[]>();
  for (const [text, id, score] of pieces) {
    if (text === '') continue;
    byText.set(text, { id, score });
    const of = lengths.get(text.charAt(0));
    if (!of) lengths.set(text.charAt(0), [text.length]);
    else if (!of.includes(text.length)) of.push(text.length);
  }
  for (const of of lengths.values()) of.sort((a, b) => a - b);

  const stepsOf = (text: string): (Step | undefined)[] => {
    const steps: (Step | undefined)[] = [{ from: 0, id: undefined, sum: 0 }];
    for (let at = 0; at < text.length; at += letterAt(text, at)) {
      const sum = steps[at]?.sum ?? 0;
      const offer = (end: number, score: number, id?: number): void => {
        if (!(sum + score <= (steps[end]?.sum ?? -Infinity)))
          steps[end] = { from: at, id, sum: sum + score };
      };
      const letter = letterAt(text, at);
      let isLetter = false;
      for (const length of lengths.get(text.charAt(at)) ?? []) {
        if (at + length > text.length) break;
        const piece = byText.get(text.slice(at, at + length));
        if (!piece) continue;
        offer(at + length, piece.score, piece.id);
        isLetter ||= length === letter;
      }
      if (!isLetter) offer(at + letter, unknownScore);
    }
    return steps;
  };

  return (text) => {
    const steps = stepsOf(text);
    const found: Cutting[] = [];
    for (let end = text.length; end > 0;) {
      const { from = 0, id } = steps[end] ?? {};
      const part = text.slice(from, end);
      const last = found[found.length - 1];
      if (last && last.id === undefined && id === undefined)
        found[found.length - 1] = { text: part + last.text, id };
      else found.push({ text: part, id });
      end = from;
    }
    return found.reverse();
  };
}
