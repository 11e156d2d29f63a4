/** Fetches the bytes at an address; an error has the code `load_failed`. */
export async function fileAt(address: string): Promise<Uint8Array> {
  try {
    const response = await fetch(address);
    if (!response.ok) throw new Error(`${address} answered ${response.status}`);
    return new Uint8Array(await response.arrayBuffer());
  } catch (error) {
    throw Object.assign(error as Error, { code: 'load_failed' });
  }
}
