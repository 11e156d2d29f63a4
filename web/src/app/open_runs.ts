import type { ToModel } from '../features/model/shared/protocol';
import { AFRESH } from '../features/model/state';
import type { State } from '../state/state';

/** A model that a panel has trained, as a file, and a text that shows what it knows. */
interface Opened {
  readonly file: File;
  readonly text: string;
}

/** Loads what a panel has trained into the panel of trained models, and goes there. */
export function openRuns(): void {
  document.addEventListener('run-opened', (event) => {
    const { file, text } = (event as CustomEvent<Opened>).detail;
    const tell = (name: string, detail: unknown) =>
      document.dispatchEvent(new CustomEvent(name, { detail }));
    const changes: Partial<State> = { ...AFRESH, text, query: null };
    tell('state-change', changes);
    const load: ToModel = { kind: 'load', files: { kind: 'files', files: [file] } };
    tell('model-tell', load);
    document.getElementById('model')?.scrollIntoView();
  });
}
