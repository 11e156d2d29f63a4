/** Another state than the first one for every panel that has one, in which it shows what it does not show at first. */
export const otherStates = {
  map: { look: 'arcs', source: 'random' },
  pair: { pairKey: 0 },
  row: { rowMax: false, rowMasked: 1 },
  temperature: { curves: false, gain: 0.5 },
  scale: { divided: true },
  masks: { maskKind: 'painted', maskPaint: '0000'.padEnd(64, 'f'), maskShuffle: 9 },
  positions: { scheme: 'alibi', position: 40000, pair: 30, layout: 'concatenated' },
  recurrence: { recurrenceSource: '0123456789'.repeat(4), recurrenceHead: 0, recurrenceSeed: 9999 },
  block: {
    ...{ blockNorm: 'post', blockType: 'rms', blockTap: 'weights' },
    ...{ blockContext: 'x', blockRule: 'scaled' },
  },
  learn: { learnTask: 'characters', learnCausal: false, learnHeads: 8 },
};
/** Panels that have one state alone. */
export const unchanging = ['cost', 'model', 'checks', 'use'];
