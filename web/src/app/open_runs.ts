import { openFiles } from './open_files';

/** A model that a panel has trained, as a file, and a text that shows what it knows. */
interface Opened {
  readonly file: File;
  readonly text: string;
}

/** Loads what a panel has trained into the panel of trained models, and goes there. */
export function openRuns(): void {
  document.addEventListener('run-opened', (event) => {
    const { file, text } = (event as CustomEvent<Opened>).detail;
    openFiles([file], { text, query: null });
  });
}
