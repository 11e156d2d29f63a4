// What is known of one family of models: one such description in each file of this folder that index.ts names.

import type { LanguageModelConfig } from '../../api/model-config.js';
import type { Fields } from '../fields.js';
import type { ModelFile } from '../file.js';
import type { Fixed } from './fixed.js';
import type { Heads } from './heads.js';
import type { Turn, Unturned } from './layered.js';
import type { Names } from './locate.js';
import type { Sizes } from './sizes.js';
import type { Slides } from './windows.js';

/** What one file says of a model: its config, and where its arrays are. */
export interface Read {
  readonly config: LanguageModelConfig & { family: string };
  readonly names: Names;
  /** Heads for other things than the next token. */
  readonly heads?: () => Heads;
}

/** What one family has besides that all have. */
export interface More {
  readonly config?: Partial<Unturned>;
  readonly names?: Partial<Names>;
}

/** How the files of the Hugging Face hub have it: config.json in the words of transformers, and safetensors. */
export interface Hub {
  readonly names: Names;
  /** Fields with the sizes, in the order of `sizes` in sizes.ts; `a|b` is one that has two names, `a=2` one that is 2 where it is missing. */
  readonly sizes?: string;
  /** Where no width of the feed-forward part stands, it is four times that of a token. */
  readonly isFourfold?: boolean;
  /** The field of the epsilon, where the family has not a fixed one. */
  readonly epsilon?: string;
  /** The field of the activation, and its default. */
  readonly activation?: readonly [field: string, fallback?: string];
  /** The share of a head that is rotated where the file does not say it, 1 by default; null if it must. */
  readonly share?: number | null;
  /** The default of tie_word_embeddings. */
  readonly isTied?: boolean;
  readonly slides?: Slides;
  /** The field of the width of windows and its default, where it is not sliding_window. */
  readonly window?: readonly [field: string, fallback: number];
  /** The field of the base of the rotation beside the usual ones, and its default where that is not 10,000. */
  readonly theta?: string;
  readonly base?: number;
  /** Of a rotation of their own in layers with a window the field of the base, and its default. */
  readonly local?: readonly [field: string, fallback: number];
  /** Scalings that this family alone has. */
  readonly scalings?: readonly string[];
  /** Fields that change what is computed, with the values at which the model computes as the family does here. */
  readonly fixed: Fixed;
  /** How the classes begin whose code files of the family bring along (auto_map), and by which the family is read here. */
  readonly classes?: string;
  /** Fields that only this family and its relatives have, and that it obeys. */
  readonly obeyed?: string;
  readonly more?: (fields: Fields, sizes: Sizes) => More;
  /** Whether the names of maps, or what they are multiplied by, are only known by config.json. */
  readonly isByConfig?: true;
  /** Heads for other things than the next token; of a decoder by default the score of its last token. */
  readonly tasks?: (fields: Fields) => Heads;
}

/** How GGUF files of llama.cpp's converter have it. */
interface Gguf {
  readonly architecture: string;
  /** What differs from the names that most have. */
  readonly modules?: Names['modules'];
  /** Keys below the architecture that it has besides those of all. */
  readonly keys?: string;
  readonly isInterleaved?: boolean;
  /** Which layers have the window that is there, where the file may say how often one has none. */
  readonly slides?: (layer: number, period?: number) => boolean;
  /** Whether a window must be there. */
  readonly needsWindow?: boolean;
  /** The base of the rotation of all layers, and of one that layers with a window have, where files leave it out. */
  readonly base?: number;
  readonly local?: number;
  /** Whether files may have a factor for each pair of the rotation. */
  readonly hasFactors?: boolean;
  readonly more?: (fields: Fields, sizes: Sizes, file: ModelFile) => More;
}

export interface Family {
  /** The `model_type`s of the hub; the first is what files of GGUF are called. */
  readonly types: readonly string[];
  /** What it is in whichever file. */
  readonly traits: Partial<Unturned>;
  /** What follows from its sizes. */
  readonly scaled?: (sizes: Sizes) => Partial<Unturned>;
  /** What turns each layer; undefined for the same in all. */
  readonly layers?: (config: Unturned, fields: Fields) => readonly Turn[] | undefined;
  readonly hub?: Hub;
  readonly gguf?: Gguf;
}
