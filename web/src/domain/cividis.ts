/** A ramp of 256 opaque colours, as the RGBA bytes of a canvas. */
export type Ramp = Uint8ClampedArray<ArrayBuffer>;
export type Rgb = readonly [red: number, green: number, blue: number];

/** Sixteen evenly spaced colours of cividis (Nuñez, Anderson and Renslow, PLOS ONE 2018). */
const CIVIDIS: readonly Rgb[] = [
  [0, 34, 78],
  [0, 46, 108],
  [30, 58, 111],
  [53, 70, 108],
  [71, 81, 108],
  [87, 93, 109],
  [102, 105, 112],
  [117, 117, 117],
  [132, 130, 121],
  [148, 142, 119],
  [165, 156, 116],
  [183, 169, 110],
  [200, 184, 102],
  [219, 199, 90],
  [238, 214, 73],
  [254, 232, 56],
];

/** Linear interpolation through evenly spaced colours. */
export function ramp(stops: readonly Rgb[]): Ramp {
  const bytes = new Uint8ClampedArray(256 * 4);
  for (let i = 0; i < 256; i++) {
    const at = (i / 255) * (stops.length - 1);
    const low = stops[Math.floor(at)]!;
    const high = stops[Math.ceil(at)]!;
    const part = at - Math.floor(at);
    for (let c = 0; c < 3; c++) bytes[i * 4 + c] = low[c]! + (high[c]! - low[c]!) * part;
    bytes[i * 4 + 3] = 255;
  }
  return bytes;
}

export const cividis: Ramp = ramp(CIVIDIS);
/** The same as pixels. */
export const cividisPixels = new Uint32Array(cividis.buffer);
