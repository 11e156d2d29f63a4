import { homeOf } from '../domain/animals';
import type { FrameRequest } from '../worker/protocol';
import { requestOf } from './request';
import { initialState } from '../state/state';
import { tokenize } from '../domain/tokenizer';
import type { Language } from '../i18n/i18n';

/** What the page asks for when it is opened; the build asks the same for the picture in the HTML. */
export function firstRequest(language: Language): FrameRequest {
  const state = initialState(language);
  const { tokens } = tokenize(state.text, state.tokenizer, state.length);
  const query = homeOf(tokens);
  const request = requestOf(state, tokens, {
    ...{ query, described: query, dragging: false, sees: () => false, surfaces: {}, ratio: 1 },
  });
  return { ...request, view: { ...request.view, matrix: true } };
}
