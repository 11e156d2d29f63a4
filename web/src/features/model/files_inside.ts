import type { ModelFiles } from './protocol';
import type { ShippedName } from './shipped';

/** The files of the single page: texts of base64 in elements of their own, which no script has to be read for. */
export function shippedFiles(name: ShippedName): ModelFiles {
  const letters = atob(document.getElementById(`file-${name}`)?.textContent ?? '');
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = letters.charCodeAt(i);
  return { kind: 'bytes', name, bytes: bytes.buffer };
}
