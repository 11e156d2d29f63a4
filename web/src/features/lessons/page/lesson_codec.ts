// Lessons as text for a link: base64url of their JSON, after "z" of its deflate-raw, after "j" as it is.
import { readLesson, type Lesson } from './lesson';

/** Longer texts are no lesson, and neither is what grows beyond the second when it is inflated. */
const MOST_CODE = 100_000;
const MOST_TEXT = 400_000;
/** A shorter JSON is not worth the compression. */
const SHORT = 200;

function toBase64(bytes: Uint8Array): string {
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
}

/** Throws what atob throws. */
function fromBase64(code: string): Uint8Array<ArrayBuffer> {
  const binary = atob(code.replace(/-/g, '+').replace(/_/g, '/'));
  return Uint8Array.from(binary, (char) => char.charCodeAt(0));
}

/** Reads a stream to its end, and no farther than `most` bytes. */
async function collect(stream: ReadableStream<Uint8Array>, most: number): Promise<Uint8Array> {
  const reader = stream.getReader();
  const parts: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    parts.push(value);
    length += value.length;
    if (length <= most) continue;
    // Nobody waits for it: the end of a stream that was given up need not come.
    reader.cancel().catch(() => undefined);
    throw new RangeError('too long');
  }
  const all = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

type Both = CompressionStream | DecompressionStream;
const through = (bytes: Uint8Array<ArrayBuffer>, by: Both) =>
  collect(new Blob([bytes]).stream().pipeThrough(by), MOST_TEXT);

/** Null before Chrome 103 and Firefox 113, which have no such stream or know no `deflate-raw`. */
function streamOf(name: 'CompressionStream' | 'DecompressionStream'): Both | null {
  try {
    return new globalThis[name]('deflate-raw');
  } catch {
    return null;
  }
}

export async function writeCode(lesson: Lesson): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(lesson));
  const stream = bytes.length < SHORT ? null : streamOf('CompressionStream');
  return stream ? `z${toBase64(await through(bytes, stream))}` : `j${toBase64(bytes)}`;
}

/** Whether this browser can unpack such a code at all. */
export const canUnpack = (code: string): boolean =>
  !code.startsWith('z') || streamOf('DecompressionStream') !== null;

/** The lesson of a link; null where there is none. Never rejects. */
export async function readCode(code: string): Promise<Lesson | null> {
  if (code.length > MOST_CODE || !/^[jz][\w-]*$/.test(code)) return null;
  try {
    const packed = fromBase64(code.slice(1));
    const bytes = code.startsWith('j')
      ? packed
      : await through(packed, new DecompressionStream('deflate-raw'));
    return readLesson(JSON.parse(new TextDecoder().decode(bytes)));
  } catch {
    return null; // cut off or changed on its way
  }
}
