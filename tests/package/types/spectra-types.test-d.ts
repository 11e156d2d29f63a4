// The types of qkv/spectra, checked by the compiler alone: results follow the options, and misuse is refused.
import type { NdArray, OwnedArray } from 'qkv';
import { init, QkvError } from 'qkv/spectra';
import type { PrincipalComponents, ProjectedComponents, SingularVectors, Spectra } from 'qkv/spectra'; // prettier-ignore

declare const x: NdArray;

/** What each function returns. */
export async function returns(): Promise<unknown[]> {
  const spectra: Spectra = await init({ shared: false });
  const values: OwnedArray = spectra.singularValues(x, x);
  const turned: OwnedArray = spectra.singularValues(x, x, { transposed: true });
  const vectors: SingularVectors = spectra.singularValues(x, x, { vectors: true });
  const rank: OwnedArray = spectra.effectiveRank(x, x, { transposed: true });
  const { real, imaginary, copying } = spectra.eigenvalues(x, x);
  const plane: ProjectedComponents = spectra.pca(x);
  const more: ProjectedComponents = spectra.pca(x, { count: 3 });
  const axes: PrincipalComponents = spectra.pca(x, { projections: false });
  // @ts-expect-error -- without projections there are none
  const none = spectra.pca(x, { projections: false }).projections;
  // @ts-expect-error -- a misspelt option
  spectra.pca(x, { counts: 3 });
  // @ts-expect-error -- an option of qkv
  await init({ threads: 2 });
  // @ts-expect-error -- an operator of qkv
  void spectra.softmax;
  return [
    values,
    turned,
    vectors,
    rank,
    real,
    imaginary,
    copying,
    plane,
    more,
    axes,
    none,
    QkvError,
  ];
}
