import type { FrameRequest } from './engine/protocol';
import { initialState, type State } from './state';
import { tokenize } from './tokenizer';
import type { Language } from './i18n';

/** The words of the two opening sentences whose row is told first. */
export const FIRST_QUERY = /^(it|它)$/;

/** What the page asks for when it is opened; the build asks the same for the picture in the HTML. */
export function firstRequest(language: Language): FrameRequest {
  const state = initialState(language);
  const { source, seed, positions, mask, temperature, numbers, head, show } = state;
  const { tokens } = tokenize(state.text, state.tokenizer, state.length);
  const query = tokens.findIndex((word) => FIRST_QUERY.test(word));
  return {
    layer: { tokens, source, seed, positions, mask, temperature, numbers },
    view: { head, other: null, show, query, told: query, matrix: true, dragging: false },
    shift: state.shift,
    row: null,
    studies: { temperature: false, widths: null },
    masks: null,
    positions: null,
    layout: state.layout,
    surfaces: {},
    ratio: 1,
  };
}

/** Whether the map of this state is the one in the HTML. */
export function isFirst(state: State): boolean {
  const base = initialState(state.language);
  const names = [
    'text',
    'tokenizer',
    'length',
    'source',
    'positions',
    'mask',
    'temperature',
  ] as const;
  const more = ['head', 'other', 'show', 'look', 'query'] as const;
  return [...names, ...more].every((name) => state[name] === base[name]);
}
