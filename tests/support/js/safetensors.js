// Files of safetensors as their parts.

/** { header, data, begin }: the parsed header, the bytes of the elements, and where these begin. */
export function partsOf(file) {
  const length = Number(new DataView(file.buffer, file.byteOffset).getBigUint64(0, true));
  const begin = 8 + length;
  const header = JSON.parse(new TextDecoder().decode(file.subarray(8, begin)));
  return { header, data: file.slice(begin), begin };
}
