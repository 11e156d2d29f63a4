import type { Spectra } from 'qkv/spectra';
import type { Principal } from '../domain/principal_plane';

/** The rows of [rows, width] on the plane of their two largest principal components; nothing along those that are not there. */
export function principalPlane(spectra: Spectra, data: Float32Array, width: number): Principal {
  const rows = data.length / width;
  const count = Math.min(2, rows, width);
  const found = spectra.pca({ data, shape: [rows, width] }, { count });
  const points = new Float32Array(2 * rows);
  const places = found.projections.data;
  places.forEach((place, at) => (points[2 * Math.floor(at / count) + (at % count)] = place));
  return { points, shares: [found.shares.data[0] ?? 0, found.shares.data[1] ?? 0] };
}
