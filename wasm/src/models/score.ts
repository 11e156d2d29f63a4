// Logits of classes of texts, and of pairs of texts.

import { QkvError } from '../api/errors.js';
import type { ScoreOptions, Scores } from '../api/model-types.js';
import { checkBoolean } from '../arguments/numbers.js';
import { checkSignal } from '../arguments/signal.js';
import {
  describe,
  isRecord,
  listOf,
  newFloats,
  reading,
  takeOptions,
} from '../arguments/values.js';
import { outputsOf } from '../language/config.js';
import { checkWhole } from '../language/rows.js';
import { Call } from '../memory/call.js';
import type { ModelSpec } from './model-spec.js';
import type { ModelState } from './model-state.js';
import { checkProgress } from '../arguments/progress.js';
import { hasNoTokenizer, tokensOf } from './text.js';
import { inPasses, mostTexts, shortened, type TokenRow } from './texts.js';

const fn = 'LanguageModel.score';

/** Whether a list is one of two texts. */
const isPair = (list: readonly unknown[] | undefined): list is readonly [string, string] =>
  list?.length === 2 && list.every((text) => typeof text === 'string');

interface RowOptions {
  readonly truncate: boolean;
  readonly plain: boolean;
}

/** The tokens of two texts, and whether they were cut. */
function pairRow(
  name: string,
  [first, second]: readonly [string, string],
  spec: ModelSpec,
  { truncate }: RowOptions,
): TokenRow & { readonly isCut: boolean } {
  const { tokenizer, config } = spec;
  if (!tokenizer) throw hasNoTokenizer(fn, spec, `${name} is two texts`, 'tokens');
  const pair = reading(fn, name, () =>
    tokenizer.encodePair?.(first, second, truncate ? config.maxLength : undefined),
  );
  if (!pair) {
    throw new QkvError(
      'invalid_argument',
      `${fn}: ${name} is two texts and the tokenizer has no encodePair(), expected a tokenizer with encodePair(), or one text`,
    );
  }
  const { source: ids } = tokensOf(fn, name, pair.ids, spec, { isVector: true });
  // One segment, where the model tells none apart.
  if (config.tokenTypes === 0) return { ids, isCut: pair.isCut };
  const { source: types } = checkWhole(fn, `types of ${name}`, pair.types, ids.length);
  return { ids, types: Int32Array.from(types as Int32Array), isCut: pair.isCut };
}

function rowOf(
  name: string,
  given: unknown,
  spec: ModelSpec,
  options: RowOptions,
): TokenRow & { readonly isCut: boolean } {
  // A list of two is read once, whether it has texts or tokens.
  const two = listOf(fn, name, given, 2);
  if (isPair(two)) return pairRow(name, two, spec, options);
  const { truncate, plain } = options;
  const text = two ?? given;
  const cut = truncate ? shortened(fn, name, text, spec, plain) : undefined;
  const { source: ids } = tokensOf(fn, name, cut ?? text, spec, { isVector: true, plain });
  return { ids, isCut: cut !== undefined };
}

/** Refuses a model without one answer for a text. */
function checkClasses({ config }: ModelSpec): void {
  if (config.head && config.headPooling !== 'none') return;
  const what = config.head ? 'has a head of each token, not of a text' : 'has no head';
  throw new QkvError(
    'unsupported',
    `${fn}: the model ${what}, expected one of classes, as files of ...ForSequenceClassification have it`,
  );
}

export async function score(
  state: ModelState,
  given: unknown,
  options: ScoreOptions,
): Promise<Scores> {
  const names = ['truncate', 'plain', 'signal', 'onProgress'] as const;
  const taken = takeOptions(fn, 'options', options, names);
  const { truncate = false, plain = false, signal, onProgress } = taken;
  const { spec } = state;
  state.live(fn);
  checkClasses(spec);
  checkBoolean(fn, 'truncate', truncate);
  checkBoolean(fn, 'plain', plain);
  checkSignal(fn, signal);
  checkProgress(fn, onProgress);
  const texts = isRecord(given) ? listOf(fn, 'texts', given, mostTexts) : undefined;
  if (!texts) {
    throw new QkvError(
      'invalid_argument',
      `${fn}: texts is ${describe(given)}, expected an array of texts, pairs of texts or lists of tokens`,
    );
  }
  const rows = texts.map((text, i) => rowOf(`texts[${i}]`, text, spec, { truncate, plain }));
  const truncated = rows.flatMap(({ isCut }, i) => (isCut ? [i] : []));
  const width = outputsOf(spec.config);
  const data = newFloats(fn, rows.length * width);
  await inPasses(rows, { signal, onProgress }, ({ places, length, ids, types, lengths }) => {
    const call = new Call(state.instance, fn);
    const logits = call.output('logits', [places.length, 1, width]);
    const shape = [places.length, length];
    const keyLengths = { name: 'texts', shape: [places.length], source: lengths };
    const isPadded = lengths.some((own) => own < length);
    call.run('forwardModel', {
      ...{ model: state.live(fn), logits, sites: {} },
      ids: call.input({ name: 'texts', shape, source: ids }),
      tokenTypes: types && call.input({ name: 'texts', shape, source: types }),
      keyLengths: isPadded ? call.input(keyLengths) : undefined,
    });
    const found = call.read(logits);
    places.forEach((place, row) => {
      data.set(found.subarray(row * width, (row + 1) * width), place * width);
    });
  });
  return { data, shape: [rows.length, width], truncated };
}
