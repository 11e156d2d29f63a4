import InlineWorker from './worker?worker&inline';

/**
 * The worker of the single file, from a blob: URL. The package makes no such URLs, because strict policies
 * forbid them; but a page opened from a disk may load no second file, and has no server whose policy it
 * would break.
 */
export const newWorker = () => new InlineWorker();
