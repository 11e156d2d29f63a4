// The options of the other operators.

/** Options of {@link Qkv.sinusoidalEncoding}. */
export interface SinusoidalOptions {
  /** The first position. Default 0. */
  offset?: number | undefined;
  /** Wavelengths run from 2 pi to 2 pi base. Finite, >= 1. Default 10000. */
  base?: number | undefined;
  /** `'interleaved'`: sin, cos, sin, cos, ...; `'concatenated'`: all sines, then all cosines. Default `'interleaved'`. */
  layout?: 'interleaved' | 'concatenated' | undefined;
}

/** Options of {@link Qkv.rmsNorm}. */
export interface RmsNormOptions {
  /** Scale per element, length n. Default 1. */
  gamma?: Float32Array | undefined;
  /** First normalised axis; a negative axis counts from the end. Default -1. */
  axis?: number | undefined;
  /** Added to the variance or, by `rmsNorm`, to the mean of the squares. Finite, >= 0. Default 1e-5. */
  epsilon?: number | undefined;
}

/** Options of {@link Qkv.layerNorm}. */
export interface LayerNormOptions extends RmsNormOptions {
  /** Shift per element, length n. Default 0. */
  beta?: Float32Array | undefined;
}

/** Options of {@link Qkv.gelu}. */
export interface GeluOptions {
  /** `'tanh'`: the tanh approximation; `'none'`: exact erf. Default `'none'`. */
  approximate?: 'none' | 'tanh' | undefined;
}

/** Options of {@link Qkv.softmax}. */
export interface SoftmaxOptions {
  /** The axis whose elements sum to 1; a negative axis counts from the end. Default -1. */
  axis?: number | undefined;
  /** The divisor of the elements; for small temperatures the largest element takes all. At least 1.18e-38. Default 1. */
  temperature?: number | undefined;
}
