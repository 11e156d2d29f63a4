// What a file is of: its config, and where the arrays of such a model are in it. plan.ts checks the file against that.

import type { LanguageModelConfig } from '../api/model-config.js';
import { describe } from '../arguments/values.js';
import { quoted, refuse, refuseUnsupported } from './errors.js';
import { ggufConfig, hubConfig, llama2cConfig, ownConfig } from './families/configs.js';
import {
  ggufNames,
  hubNames,
  type Locate,
  llama2cIgnored,
  locateBy,
  locateOwn,
  locateStacked,
  type Names,
  otherHeads,
} from './families/names.js';
import { Fields } from './fields.js';
import type { ModelFile } from './file.js';

/** A model as a file has it. */
export interface Described {
  readonly config: LanguageModelConfig;
  readonly locate: Locate;
  /** The name of a tensor as `locate` says it, from the name in the file. */
  readonly rename: (name: string) => string;
  /** Tensors, as renamed, of which nothing is needed. */
  readonly isIgnored: (name: string) => boolean;
  /** Tensors, as renamed, of a head that is not computed. */
  readonly isOtherHead: (name: string) => boolean;
  /** Whether int8 with scales in an array of their own may be. */
  readonly hasScales: boolean;
}

const no = (): boolean => false;
const never = { rename: (name: string) => name, isIgnored: no, isOtherHead: no, hasScales: false };

/** Classes of transformers whose files have the head of a language model. */
const withHead = /(CausalLM|LMHead(Model)?|DoubleHeadsModel)$/;

/** A file without that head is of a class that has none, where it says of which. */
const isHeadless = (classes: readonly unknown[]): boolean =>
  classes.length > 0 && !classes.some((name) => withHead.test(String(name)));

/** `classes` are those of transformers that the file is of. */
function byNames(
  file: ModelFile,
  given: LanguageModelConfig,
  names: Names,
  classes: readonly unknown[] = [],
): Described {
  const { prefix = '', ignored, modules } = names;
  // Files of Google's BERT call weights of layer norms so.
  const rename = (name: string): string =>
    (prefix && name.startsWith(prefix) ? name.slice(prefix.length) : name)
      .replace(/(LayerNorm)\.gamma$/, '$1.weight')
      .replace(/(LayerNorm)\.beta$/, '$1.bias');
  // A head in the file is that of the model, also where the config ties it to the embedding.
  const head = `${modules.head ?? ''}.weight`;
  const hasHead =
    given.head !== false && [...file.tensors.keys()].some((name) => rename(name) === head);
  const isWithout = !hasHead && given.tiedEmbeddings === false && isHeadless(classes);
  if (isWithout && given.causal !== false) {
    // The core has no decoder without logits.
    refuseUnsupported(
      `weights of ${describe(classes[0])} have no ${quoted(head)}`,
      'the head of a language model; with tie_word_embeddings: true in the config the embedding is its head, and hidden states are the same',
    );
  }
  const config = {
    ...given,
    ...(hasHead && { tiedEmbeddings: false }),
    ...(isWithout && { head: false }),
  };
  return {
    ...{ config, locate: locateBy(names, config), rename, hasScales: false },
    isIgnored: (name) => ignored?.test(name) ?? false,
    isOtherHead: (name) => otherHeads.test(name),
  };
}

/** `given` is the config of the hub, if there is one; what a file says itself goes first. */
export function describeModel(file: ModelFile, given: unknown): Described {
  if (file.format === 'gguf') {
    const config = ggufConfig(file);
    return byNames(file, config, ggufNames(config.family));
  }
  if (file.format === 'llama2.c') {
    const config = llama2cConfig(file);
    const isIgnored = (name: string): boolean => llama2cIgnored.test(name);
    return { ...never, config, locate: locateStacked(config), isIgnored };
  }
  if (file.metadata.get('format') === 'qkv') {
    const isIgnored = (name: string): boolean => /^optimizer\.(first|second)\./.test(name);
    return { ...never, config: ownConfig(file), locate: locateOwn, isIgnored, hasScales: true };
  }
  if (given === undefined)
    refuse('config is missing', 'the config.json that belongs to the weights');
  const fields = Fields.of('config', given);
  const config = hubConfig(fields);
  const names = hubNames[config.family] ?? refuse(config.family, 'a family');
  const classes = config.head === false ? [] : fields.list('architectures');
  return byNames(file, config, names, classes);
}
