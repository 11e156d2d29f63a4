// How much of a logit each part of the stream gives.

import type { Attribution, AttributeOptions, Contribution } from '../../api/inspect-types.js';
import { checkInteger } from '../../arguments/numbers.js';
import { takeOptions } from '../../arguments/values.js';
import { found } from '../../language/rows.js';
import { editFields, editsOf } from '../edits.js';
import type { ModelState } from '../model-state.js';
import { checkHead, onePass } from './one-pass.js';

const fn = 'LanguageModel.attribute';
const names = ['answer', 'instead', 'row', 'edit', 'session'] as const;

export function attribute(state: ModelState, ids: unknown, given: AttributeOptions): Attribution {
  const { config } = state.spec;
  const { numLayers, numHeads, vocabulary, dFeedForward, encoderLayers } = config;
  const taken = takeOptions(fn, 'options', given, names);
  checkHead(fn, state.spec);
  const { answer, instead, row } = taken;
  checkInteger(fn, 'answer', answer, 0, vocabulary - 1);
  if (instead !== undefined) checkInteger(fn, 'instead', instead, 0, vocabulary - 1);
  const pass = onePass(fn, state, ids, taken.session);
  const { call, size } = pass;
  if (row !== undefined) checkInteger(fn, 'row', row, 0, size.length - 1);
  const sites = editFields(call, editsOf(fn, taken.edit, config, size));
  const width = numHeads + 3;
  const parts = call.output('parts', [numLayers * width * 2]);
  const rest = call.output('parts', [6]);
  const fields = { ...pass.fields(), sites, batch: 0, row: row ?? -1, answer, parts, rest };
  pass.run(() => call.run('attributeModel', { ...fields, instead: instead ?? -1 }));
  const values = found(call, parts);
  const [embed = NaN, bias = NaN, total = NaN] = found(call, rest);
  const ofLayer = (layer: number): Contribution[] => {
    const at = (i: number): number => values[layer * width + i] ?? NaN;
    return [
      ...Array.from({ length: numHeads }, (_, head) => {
        return { part: 'head', layer, head, value: at(head) } as const;
      }),
      { part: 'attentionBias', layer, value: at(numHeads) },
      ...(encoderLayers > 0 ? [{ part: 'cross', layer, value: at(numHeads + 1) } as const] : []),
      ...(dFeedForward > 0
        ? [{ part: 'feedForward', layer, value: at(numHeads + 2) } as const]
        : []),
    ];
  };
  return {
    parts: [
      { part: 'embed', value: embed },
      ...Array.from({ length: numLayers }, (_, layer) => ofLayer(layer)).flat(),
      { part: 'bias', value: bias },
    ],
    total,
  };
}
