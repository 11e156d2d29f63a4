/** Where the controls of a field of the state are. */
const CONTROLS = {
  text: '#text',
  tokenizer: '#choose-tokenizer',
  length: '#choose-length',
  temperature: '#tau, #temperature-number, qkv-panel-temperature .plot-handle',
  head: '#choose-head, [name=head]',
  mask: '#choose-mask',
  positions: '#choose-positions',
  source: '#choose-source',
  seed: '#seed, #new-seed',
  query: '.chip input',
  show: '[name=show]',
  look: '[name=look]',
  scores: '[name=lab-scores]',
  width: '#width',
  divided: '#divided',
  sample: 'qkv-panel-scale .draw',
  maskKind: '[name=mask-kind]',
  maskSize: '#mask-size',
  maskShuffle: '.shuffle, .as-written',
  position: '#position, #position-number',
  shift: '#shift',
  scheme: '[name=scheme]',
  positionsSeed: '.drawn button',
  blockNorm: '[name=block-place]',
  blockTap: '[name=block-tap]',
  blockDepth: '#block-depth',
  recurrenceSource: '#recurrence-source, [data-press=draw]',
  recurrenceSeed: '#recurrence-seed',
  learnTask: '.learn-setup [name=task]',
  learnSeed: '.learn-setup [name=seed]',
  learnLayers: '.learn-setup [name=layers]',
  learnPositions: '.learn-setup [name=positions]',
  learnCausal: '.learn-setup [name=causal]',
  modelTemperature: '#model-temperature',
  modelOrder: 'qkv-model-heads .order',
  costShape: '.cost-shape :is(input, select)',
} as const;
type Lockable = keyof typeof CONTROLS;

/** Fields that a teacher is offered to lock. */
export const LOCKABLE = Object.keys(CONTROLS) as readonly Lockable[];

/** A selector of the controls of a field; of a field that has none, one of nothing. */
export function controlsOf(field: string): string {
  const known = LOCKABLE.find((name) => name === field);
  return known ? CONTROLS[known] : 'x-none';
}
