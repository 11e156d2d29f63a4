import type { Language } from '../../../i18n/i18n';
import { CONTEXTS, DOCUMENTS, PLANES } from '../shared/examples';
import type { Analogy } from '../shared/similarity';
import { plainWord } from '../shared/word_table';
import type { WordsState } from '../state';

/** What the panel shows in a state: what the reader has chosen, or what it begins with. */
export function shownWords(state: WordsState & { readonly language: Language }) {
  const [a = '', b = '', c = ''] = (state.wordsAnalogy ?? 'king man woman').split(' ');
  const analogy: Analogy = [a, b, c];
  return {
    text: state.wordsText ?? DOCUMENTS[state.language],
    cells: state.wordsCells ?? 'tfidf',
    term: state.wordsTerm ?? '',
    near: plainWord(state.wordsNear ?? 'cat'),
    other: plainWord(state.wordsOther ?? 'dog'),
    plane: state.wordsPlane ?? PLANES.groups,
    analogy,
    contexts: {
      word: (state.wordsContext ?? CONTEXTS[state.language].word).trim(),
      texts: [
        state.wordsFirst ?? CONTEXTS[state.language].texts[0],
        state.wordsSecond ?? CONTEXTS[state.language].texts[1],
      ] as const,
    },
  };
}

export const analogyText = (words: Analogy): string => words.map(plainWord).join(' ');
