// What the model would say after each layer.

import type { Guess, LensOptions } from '../../api/inspect-types.js';
import { checkInteger } from '../../arguments/numbers.js';
import { takeOptions } from '../../arguments/values.js';
import { layersOf } from '../../language/readings.js';
import { editFields, editsOf } from '../edits.js';
import type { Call, Slot } from '../../memory/call.js';
import type { ModelState } from '../model-state.js';
import { checkedDecoder } from '../generation/streamed-text.js';
import { checkHead, onePass } from './one-pass.js';

const fn = 'LanguageModel.lens';
const names = ['top', 'layers', 'edit', 'session'] as const;
/** Most guesses of a row that the core returns. */
const mostGuesses = 64;

export function lens(
  state: ModelState,
  ids: unknown,
  given: LensOptions = {},
): readonly (readonly Guess[])[][] {
  const { config } = state.spec;
  const { numLayers, vocabulary } = config;
  const taken = takeOptions(fn, 'options', given, names);
  checkHead(fn, state.spec, true);
  const { top = Math.min(5, vocabulary) } = taken;
  checkInteger(fn, 'top', top, 1, Math.min(vocabulary, mostGuesses));
  const layers = layersOf(fn, taken.layers, numLayers, 'layers');
  const pass = onePass(fn, state, ids, taken.session);
  const { call, size } = pass;
  const edits = editsOf(fn, taken.edit, config, size);
  if (layers.length === 0) return [];
  const { length } = size;
  const count = layers.length * length * top;
  const guesses = call.output('guesses', [count]);
  const probabilities = call.output('guesses', [count]);
  const places = Int32Array.from(layers.flatMap((layer) => [layer, top, 0, length]));
  const lenses = call.input({ name: 'layers', shape: [layers.length, 4], source: places });
  const sites = { lenses, guesses, probabilities, ...editFields(call, edits) };
  const fields = { ...pass.fields(), sites };
  pass.run(() => call.run('forwardModel', fields));
  const guessesAt = guessesOf(fn, state, call, { guesses, probabilities, top });
  return layers.map((_, l) => Array.from({ length }, (_, t) => guessesAt((l * length + t) * top)));
}

/** The guesses of a lens: of the row whose first guess is at a place of the results. Without a tokenizer their texts are empty. */
export function guessesOf(
  fn: string,
  state: ModelState,
  call: Call,
  { guesses, probabilities, top }: { guesses: Slot; probabilities: Slot; top: number },
): (at: number) => Guess[] {
  const ids = new Int32Array(call.read(guesses).buffer);
  const likely = call.read(probabilities);
  const { tokenizer } = state.spec;
  const decoder = tokenizer && checkedDecoder(fn, tokenizer);
  const texts = new Map<number, string>();
  const textOf = (id: number): string => {
    const known = texts.get(id);
    if (known !== undefined) return known;
    const text = decoder?.decode([id]) ?? '';
    texts.set(id, text);
    return text;
  };
  return (at) =>
    Array.from({ length: top }, (_, k) => {
      const id = ids[at + k] ?? -1;
      return { id, text: textOf(id), probability: likely[at + k] ?? NaN };
    });
}
