import { droppedFiles, hasFiles } from '../features/model/page/dropped_files';
import { openFiles } from './open_files';

/**
 * Catches files that are dropped anywhere: a browser would open them in the place of the page, and all that the reader has done would
 * be gone. They are taken for a model where the page shows its panel, which hears itself of what is dropped there.
 */
export function catchDrops(): void {
  window.addEventListener('dragover', (event) => {
    if (hasFiles(event)) event.preventDefault();
  });
  window.addEventListener('drop', (event) => {
    if (!hasFiles(event) || event.defaultPrevented) return;
    event.preventDefault();
    const section = document.getElementById('model');
    if (!section?.getClientRects().length) return; // a lesson, or another panel alone
    void droppedFiles(event).then((files) => {
      if (files.length > 0) openFiles(files);
    });
  });
}
