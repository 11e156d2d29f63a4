/** A safetensors file is the length of its header in 8 bytes, the header in JSON, and the numbers. */
const LENGTH = 8;

/** The file of a trainer with the texts of its tokens in it, so that who loads it can read and write. */
export function withTokens(file: Uint8Array, tokens: readonly string[]): Uint8Array<ArrayBuffer> {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const end = LENGTH + Number(view.getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(file.subarray(LENGTH, end))) as {
    __metadata__: Record<string, string>;
  };
  header.__metadata__['tokenizer'] = JSON.stringify({ type: 'pieces', tokens });
  const text = JSON.stringify(header);
  // Numbers begin at a multiple of their size: spaces after the header are part of it.
  const bytes = new TextEncoder().encode(text);
  const padded = Math.ceil((LENGTH + bytes.length) / 8) * 8 - LENGTH;
  const all = new Uint8Array(LENGTH + padded + file.length - end).fill(32);
  new DataView(all.buffer).setBigUint64(0, BigInt(padded), true);
  all.set(bytes, LENGTH);
  all.set(file.subarray(end), LENGTH + padded);
  return all;
}
