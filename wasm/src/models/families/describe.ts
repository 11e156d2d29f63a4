// What a file is of: its config, and where the arrays of such a model are in it. plan.ts checks the file against that.

import type { LanguageModelConfig } from '../../api/model-config.js';
import { describe } from '../../arguments/values.js';
import { quoted, refuse, refuseUnsupported } from '../errors.js';
import type { Read } from './family.js';
import { Fields } from '../fields.js';
import type { ModelFile } from '../file.js';
import { readGguf } from './gguf.js';
import { ggufRank, headIn } from './heads.js';
import { readHub } from './hub.js';
import { llama2cConfig, llama2cIgnored, locateStacked } from './llama2c.js';
import { type Locate, locateBy, type Names, otherHeads } from './locate.js';
import { locateOwn, ownConfig, ownIgnored } from './own.js';

/** A model as a file has it. */
export interface Described {
  readonly config: LanguageModelConfig;
  readonly locate: Locate;
  /** The names of the hub, of a file of it. */
  readonly names?: Names;
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
  classes.length > 0 && !classes.some((name) => typeof name === 'string' && withHead.test(name));

/** `classes` are those of transformers that the file is of. */
function byNames(file: ModelFile, read: Read, classes: readonly unknown[] = []): Described {
  const { prefix = '', ignored, heads } = read.names;
  // Files of Google's BERT call weights of layer norms so.
  const rename = (name: string): string =>
    (prefix && name.startsWith(prefix) ? name.slice(prefix.length) : name)
      .replace(/(LayerNorm)\.gamma$/, '$1.weight')
      .replace(/(LayerNorm)\.beta$/, '$1.bias');
  const found = read.heads && headIn(file, read.heads, classes, rename);
  const given = { ...read.config, ...found?.config };
  const modules = { ...read.names.modules, ...found?.modules };
  const names = {
    ...{ ...read.names, modules },
    ...(found?.headBias !== undefined && { headBias: found.headBias }),
  };
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
    ...{ config, names, locate: locateBy(names, config), rename, hasScales: false },
    isIgnored: (name) => ignored?.test(name) ?? false,
    // An encoder has no head of a language model, whatever its file has.
    isOtherHead: (name) =>
      !found?.has(name) &&
      (otherHeads.test(name) ||
        (heads?.test(name) ?? false) ||
        (read.config.head === false && name.startsWith('lm_head.'))),
  };
}

/**
 * `given` is the config of the hub, if there is one; what a file says itself goes first. Without `wantsHead` heads for masked tokens and for
 * classes are left out.
 */
export function describeModel(file: ModelFile, given: unknown, wantsHead: boolean): Described {
  const { format, metadata } = file;
  const ignoring = (pattern: RegExp) => ({
    ...never,
    isIgnored: (name: string): boolean => pattern.test(name),
  });
  if (format === 'gguf') {
    const read = readGguf(file);
    const isRanker = wantsHead && metadata.get('general.architecture') === 'bert';
    const { names: _ofGguf, ...described } = isRanker
      ? byNames(file, { ...read, heads: () => ggufRank }, ['ForSequenceClassification'])
      : byNames(file, read);
    return described;
  }
  if (format === 'llama2.c') {
    const config = llama2cConfig(file);
    return { ...ignoring(llama2cIgnored), config, locate: locateStacked(config) };
  }
  if (metadata.get('format') === 'qkv') {
    const config = ownConfig(file);
    return { ...ignoring(ownIgnored), config, locate: locateOwn(file), hasScales: true };
  }
  if (given === undefined)
    refuse('config is missing', 'the config.json that belongs to the weights');
  const fields = Fields.of('config', given);
  const read = readHub(fields);
  // Of an encoder they only say which head its file may have.
  const isEncoder = read.config.head === false;
  const named = fields.get('architectures');
  const classes = isEncoder && !Array.isArray(named) ? [] : fields.list('architectures');
  return byNames(file, wantsHead ? read : { config: read.config, names: read.names }, classes);
}
