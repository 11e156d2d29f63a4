// SHA-256 (FIPS 180-4) of bytes that come one piece after another. WebCrypto takes only whole buffers; Node has one that takes pieces.

import { nodeModule } from '../../platform/node.js';

/** A digest under way. */
export interface Digest {
  update(bytes: Uint8Array): void;
  /** In hexadecimal. Ends it. */
  hex(): string;
}

const blockBytes = 64;

/** The first `count` primes. */
function primes(count: number): number[] {
  const found: number[] = [];
  for (let n = 2; found.length < count; n += 1) if (found.every((p) => n % p !== 0)) found.push(n);
  return found;
}

/** The first 32 bits of the fraction of a number: 52 bits of its root are exact enough. */
const fraction = (x: number): number => ((x - Math.floor(x)) * 2 ** 32) | 0;
const constants = Int32Array.from(primes(64), (p) => fraction(Math.cbrt(p)));
const start = primes(8).map((p) => fraction(Math.sqrt(p)));

const of = (words: Int32Array, i: number): number => words[i] ?? 0;

class OwnDigest implements Digest {
  readonly #state = Int32Array.from(start);
  readonly #words = new Int32Array(64);
  /** What no whole block was made of yet. */
  readonly #rest = new Uint8Array(blockBytes);
  #length = 0;

  update(bytes: Uint8Array): void {
    let at = 0;
    const held = this.#length % blockBytes;
    this.#length += bytes.length;
    if (held > 0) {
      at = Math.min(blockBytes - held, bytes.length);
      this.#rest.set(bytes.subarray(0, at), held);
      if (held + at < blockBytes) return;
      this.#block(this.#rest, 0);
    }
    for (; at + blockBytes <= bytes.length; at += blockBytes) this.#block(bytes, at);
    this.#rest.set(bytes.subarray(at));
  }

  hex(): string {
    const length = this.#length;
    const held = length % blockBytes;
    const end = new Uint8Array(held < 56 ? blockBytes - held : 2 * blockBytes - held);
    const view = new DataView(end.buffer);
    end[0] = 0x80;
    view.setUint32(end.length - 8, Math.floor(length / 2 ** 29));
    view.setUint32(end.length - 4, (length * 8) % 2 ** 32);
    this.update(end);
    return Array.from(this.#state, (word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
  }

  /** Takes in 64 bytes. */
  #block(bytes: Uint8Array, at: number): void {
    const w = this.#words;
    for (let i = 0; i < 16; i += 1) {
      const j = at + 4 * i;
      w[i] =
        ((bytes[j] ?? 0) << 24) |
        ((bytes[j + 1] ?? 0) << 16) |
        ((bytes[j + 2] ?? 0) << 8) |
        (bytes[j + 3] ?? 0);
    }
    for (let i = 16; i < 64; i += 1) {
      const x = of(w, i - 15);
      const y = of(w, i - 2);
      const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
      const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
      w[i] = (of(w, i - 16) + s0 + of(w, i - 7) + s1) | 0;
    }
    const state = this.#state;
    let a = of(state, 0);
    let b = of(state, 1);
    let c = of(state, 2);
    let d = of(state, 3);
    let e = of(state, 4);
    let f = of(state, 5);
    let g = of(state, 6);
    let h = of(state, 7);
    for (let i = 0; i < 64; i += 1) {
      const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
      const t1 = (h + s1 + (g ^ (e & (f ^ g))) + of(constants, i) + of(w, i)) | 0;
      const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
      const t2 = (s0 + ((a & b) | (c & (a | b)))) | 0;
      // One by one: lists of them take twice as long.
      h = g;
      g = f;
      f = e;
      e = (d + t1) | 0;
      d = c;
      c = b;
      b = a;
      a = (t1 + t2) | 0;
    }
    state[0] = of(state, 0) + a;
    state[1] = of(state, 1) + b;
    state[2] = of(state, 2) + c;
    state[3] = of(state, 3) + d;
    state[4] = of(state, 4) + e;
    state[5] = of(state, 5) + f;
    state[6] = of(state, 6) + g;
    state[7] = of(state, 7) + h;
  }
}

interface NodeCrypto {
  createHash(name: string): { update(bytes: Uint8Array): void; digest(form: string): string };
}

/** Starts a digest: with Node's own, which is faster, or with the one here. */
export function sha256(): Digest {
  const node = nodeModule('node:crypto') as NodeCrypto | undefined;
  if (!node) return new OwnDigest();
  const hash = node.createHash('sha256');
  return { update: (bytes) => hash.update(bytes), hex: () => hash.digest('hex') };
}

/** As sha256(), without Node's. */
export const ownSha256 = (): Digest => new OwnDigest();
