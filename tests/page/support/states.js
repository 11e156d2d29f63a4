import { modules } from './engine.js';
import { panelIds } from './panel_ids.js';

const { FEATURES } = await modules('features/index');

/** Panels that have one state alone. */
const UNCHANGING = ['cost', 'model', 'checks', 'use'];

/** In which these panels show what they do not show at first. */
const CHOSEN = {
  map: { look: 'arcs', source: 'random' },
  pair: { pairKey: 0 },
  row: { rowMax: false, rowMasked: 1 },
  temperature: { curves: false, gain: 0.5 },
  simplex: { simplexPoint: [1, 0, 0], simplexTemperature: 0.05 },
  scale: { divided: true },
  fragility: { fragilityScores: [5, -5, 1, 0, 2], fragilityTemperature: 20, fragilityShake: 1 },
  masks: { maskKind: 'painted', maskPaint: '0000'.padEnd(64, 'f'), maskShuffle: 9 },
  positions: { scheme: 'alibi', position: 40000, pair: 30, layout: 'concatenated' },
  recurrence: { recurrenceSource: '0123456789'.repeat(4), recurrenceHead: 0, recurrenceSeed: 9999 },
  block: {
    ...{ blockNorm: 'post', blockType: 'rms', blockTap: 'weights' },
    ...{ blockContext: 'x', blockRule: 'scaled' },
  },
  extrapolation: { extrapolationTrained: 16 },
  linear: { linearSharpness: 8, linearWindow: 64, linearLength: 2 ** 20, linearWidth: 256 },
  bounds: { boundsHeads: 8, boundsRadius: 4, boundsFactor: 4, boundsRows: 256 },
  words: {
    ...{ wordsCells: 'counts', wordsNear: 'catlike', wordsAnalogy: 'cold hot big' },
    wordsContext: 'is',
    wordsPlane: 'france>paris japan>tokyo italy>rome unseen',
  },
  microscope: {
    ...{ microscopeHeads: [[0, 3]], microscopeEdges: [[0, 1, 13, 2]] },
    ...{ microscopeZoom: [0], microscopeAt: 10 },
  },
  learn: { learnTask: 'characters', learnCausal: false, learnHeads: 8 },
};

/** A value that a field does not have at first: its last option, or the end of its limits. */
function otherValue({ initial, options, limits }) {
  const values = options ?? limits ?? [];
  return values.findLast((value) => value !== initial);
}

/** The same for any panel: all fields that are choices or numbers have another value. */
function otherState(id) {
  const values = Object.entries(FEATURES[id].fields).map(([name, field]) => [
    name,
    otherValue(field),
  ]);
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}

/** Another state than the first one for every panel that has one. */
export const otherStates = Object.fromEntries(
  panelIds.filter((id) => !UNCHANGING.includes(id)).map((id) => [id, CHOSEN[id] ?? otherState(id)]),
);
