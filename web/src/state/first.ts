import { type State, initialState } from './state';

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
