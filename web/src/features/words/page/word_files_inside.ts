import text from '../../../../../models/words/words.safetensors?base64';

/** The same in the single file, where it is a string: nothing can be fetched from a disk. */
export const wordFile = (): Promise<Uint8Array> =>
  Promise.resolve(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)));
