import type { ToModel } from '../features/model/shared/protocol';
import { AFRESH } from '../features/model/state';
import type { State } from '../state/state';

/** Loads files as a model into the panel of trained models, with the changes of the state that come with them, and goes there. */
export function openFiles(files: readonly File[], changes: Partial<State> = {}): void {
  const tell = (name: string, detail: unknown) =>
    document.dispatchEvent(new CustomEvent(name, { detail }));
  tell('state-change', { ...AFRESH, ...changes });
  const load: ToModel = { kind: 'load', files: { kind: 'files', files } };
  tell('model-tell', load);
  document.getElementById('model')?.scrollIntoView();
}
