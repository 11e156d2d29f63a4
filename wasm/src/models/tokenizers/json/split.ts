// Cutting a text at what a pattern finds in it, and what becomes of what is found.

type Piece = readonly [text: string, isFound: boolean];

/** What a pattern finds in a text, and what lies between, which together are all of it. */
function piecesOf(text: string, pattern: RegExp): Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  for (const { index, 0: found } of text.matchAll(pattern)) {
    if (index > from) pieces.push([text.slice(from, index), false]);
    if (found !== '') pieces.push([found, true]);
    from = index + found.length;
  }
  if (from < text.length) pieces.push([text.slice(from), false]);
  return pieces;
}

/** What is found goes with what stands before it, or else is apart; of several in a row the first goes. */
function mergedWithPrevious(pieces: readonly Piece[]): string[] {
  const texts: string[] = [];
  let wasFound = false;
  for (const [text, isFound] of pieces) {
    if (isFound && !wasFound && texts.length > 0) texts.push(`${texts.pop() ?? ''}${text}`);
    else texts.push(text);
    wasFound = isFound;
  }
  return texts;
}

function mergedWithNext(pieces: readonly Piece[]): string[] {
  const texts: string[] = [];
  let waiting = '';
  for (const [text, isFound] of pieces) {
    if (waiting !== '' && isFound) texts.push(waiting);
    if (isFound) waiting = text;
    else {
      texts.push(waiting + text);
      waiting = '';
    }
  }
  return waiting === '' ? texts : [...texts, waiting];
}

function contiguous(pieces: readonly Piece[]): string[] {
  const texts: string[] = [];
  let was: boolean | undefined;
  for (const [text, isFound] of pieces) {
    texts.push(isFound === was ? `${texts.pop() ?? ''}${text}` : text);
    was = isFound;
  }
  return texts;
}

const textsOf = (pieces: readonly Piece[]): string[] => pieces.map(([text]) => text);

export const behaviors = {
  /** An empty text is left: what comes after it is not the first. */
  Removed: (pieces: readonly Piece[]): string[] =>
    pieces.map(([text, isFound]) => (isFound ? '' : text)),
  Isolated: textsOf,
  MergedWithPrevious: mergedWithPrevious,
  MergedWithNext: mergedWithNext,
  Contiguous: contiguous,
};

/** How a text is cut: at which pattern, and which behaviour. `invert` swaps what is found and what is not. */
export const splitBy =
  (pattern: RegExp, behave: (pieces: readonly Piece[]) => string[], invert = false) =>
  (text: string): string[] => {
    const pieces = piecesOf(text, pattern);
    return behave(invert ? pieces.map(([part, isFound]) => [part, !isFound]) : pieces);
  };
