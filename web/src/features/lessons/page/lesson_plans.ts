// The lessons that the page has: what each step shows, in which state, and what its answers are compared with. The texts are
// in content_en.json and content_zh.json, step by step and question by question in the same order.
import type { ChapterId } from '../../../chapters/index';
import type { Exercise, Showable } from './lesson';

/** Panels by their names: some are not on every page, and a step without any of its panels is left out. */
type Shown =
  | Showable
  | ('recurrence' | 'learn' | 'model' | 'microscope' | 'block' | 'cost' | 'words');

interface PlannedStep {
  readonly show: readonly Shown[];
  readonly state?: string;
  readonly lock?: readonly string[] | true;
  readonly guess?: boolean;
  /** By their places; what is not here comes with the texts. */
  readonly exercises?: readonly Omit<Exercise, 'text'>[];
}

export interface Plan {
  readonly name: string;
  /** The chapter that it belongs to; null: it goes through several of them in one class. */
  readonly chapter: ChapterId | null;
  readonly minutes: number;
  /** The panel without which the lesson makes no sense; nothing: all pages have what it needs. */
  readonly about?: Shown;
  readonly steps: readonly PlannedStep[];
}

const number = (name: string, within?: number) =>
  within === undefined ? { number: name } : { number: name, within };
const right = (at: number) => ({ right: at });
/** A number that is not on the screen before the reader has worked it out. */
const own = (value: number, off: number) => ({ value, off });
const open = {};

/** A name that no novel has, and its beginning once more. */
const TWICE = 'x=She+had+known+Miss+Fitzwarren+for+a+year%2C+and+nobody+else+knew+Miss+Fitz';

/** The sentences of the circuit in the other language that its model reads. */
const CHINESE = [
  '当玛丽和约翰去商店时，约翰把书送给了',
  '当玛丽和约翰去商店时，玛丽把书送给了',
] as const;

export const PLANS: readonly Plan[] = [
  {
    name: 'class',
    chapter: null,
    minutes: 45,
    steps: [
      { show: ['lookup'], exercises: [right(2), own(14.43, 0.05)] },
      { show: ['row'], exercises: [own(0.41, 0.005), right(1)] },
      { show: ['row'], state: 'rs=20', exercises: [number('rowWeight:2'), right(0)] },
      {
        show: ['sentence', 'map'],
        lock: ['head'],
        exercises: [number('largest'), open],
      },
      {
        show: ['learn'],
        state: 'lt=induction&ls=1&lv=25',
        lock: ['learnTask', 'learnSeed'],
        exercises: [right(1), number('learnChance'), open],
      },
      { show: ['map'], exercises: [own(0.25, 0.0025), right(1), open] },
    ],
  },
  {
    name: 'lookup',
    chapter: 'why',
    minutes: 10,
    steps: [
      { show: ['lookup'], exercises: [right(2), own(14.43, 0.05)] },
      { show: ['lookup'], state: 'ut=0.05', exercises: [number('lookupAnswer', 0.005), right(1)] },
      { show: ['lookup'], state: 'ut=20', exercises: [number('lookupAnswer', 0.01), right(0)] },
      { show: ['sentence', 'map'], lock: ['head'], exercises: [number('largest'), right(1), open] },
    ],
  },
  {
    name: 'reads',
    chapter: 'why',
    minutes: 15,
    steps: [
      { show: ['sentence', 'map'], lock: ['head'], exercises: [open, number('largest')] },
      { show: ['sentence', 'map'], state: 'h=1', exercises: [right(1), number('largest')] },
      { show: ['sentence', 'map'], state: 'h=5', exercises: [number('entropy'), open] },
      {
        show: ['settings', 'sentence', 'map'],
        state: 'h=5&mask=none',
        lock: ['text', 'tokenizer', 'length', 'source', 'positions'],
        exercises: [number('entropy'), right(0)],
      },
      {
        show: ['sentence', 'map'],
        state: 'h=2',
        lock: true,
        exercises: [number('largest', 0.05), open],
      },
    ],
  },
  {
    name: 'projections',
    chapter: 'qkv',
    minutes: 15,
    steps: [
      {
        show: ['sentence', 'flow'],
        lock: ['text', 'tokenizer'],
        exercises: [number('flowNumber'), number('flowWeight')],
      },
      { show: ['flow'], state: 'fd=-1', exercises: [number('flowWeight'), right(0)] },
      { show: ['flow'], state: 'fx=33&fd=1', exercises: [number('flowScore'), right(1), open] },
      { show: ['pair'], exercises: [number('score:1'), right(2)] },
    ],
  },
  {
    name: 'average',
    chapter: 'row',
    minutes: 15,
    steps: [
      { show: ['row'], exercises: [own(0.41, 0.005), own(0.29, 0.005)] },
      { show: ['row'], exercises: [number('rowWeight:2'), right(1)] },
      { show: ['row'], exercises: [number('rowOutput:0', 0.005), right(1), open] },
      { show: ['row'], state: 'rs=20', exercises: [number('rowWeight:2'), right(2)] },
      { show: ['row'], state: 'rm=4', exercises: [number('rowWeight:2'), number('rowWeight:0')] },
      { show: ['sentence', 'map'], exercises: [number('tokens'), number('largest'), open] },
    ],
  },
  {
    name: 'temperature',
    chapter: 'scores',
    minutes: 20,
    steps: [
      { show: ['temperature'], guess: true, exercises: [number('tauEntropy', 0.005), open] },
      {
        show: ['temperature'],
        state: 'tau=20',
        exercises: [number('tauEntropy', 0.005), number('tauLargest')],
      },
      { show: ['temperature'], state: 'tau=0.05', exercises: [number('tauLargest'), right(1)] },
      {
        show: ['temperature'],
        exercises: [number('tauVariance', 0.03), number('tauCritical', 0.03)],
      },
      {
        show: ['settings', 'sentence', 'temperature'],
        state: 'ts=row',
        lock: ['text', 'tokenizer', 'length', 'source'],
        exercises: [number('tauCritical', 0.03), right(1)],
      },
      { show: ['temperature'], exercises: [open] },
    ],
  },
  {
    name: 'scale',
    chapter: 'scores',
    minutes: 15,
    steps: [
      { show: ['scale'], guess: true, exercises: [open] },
      { show: ['scale'], state: 'd=256', exercises: [number('scaleVariance', 0.03), right(1)] },
      { show: ['scale'], state: 'd=1024', exercises: [number('scaleBefore', 0.03), right(0)] },
      {
        show: ['scale'],
        state: 'd=1024&div=1',
        exercises: [number('scaleVariance', 0.05), number('scaleAfter', 0.01)],
      },
      { show: ['scale'], state: 'd=64', lock: true, exercises: [right(1), open] },
      { show: ['temperature'], state: 'gc=3', exercises: [own(9, 0.05), right(1), open] },
    ],
  },
  {
    name: 'order',
    chapter: 'masks',
    minutes: 20,
    steps: [
      {
        show: ['masks'],
        state: 'mk=causal',
        exercises: [number('maskPairs', 0.001), number('maskEntropy:0')],
      },
      {
        show: ['masks'],
        state: 'mk=window&ms=3',
        exercises: [number('maskPairs', 0.001), right(1)],
      },
      {
        show: ['masks'],
        state: 'mk=causal',
        lock: true,
        exercises: [number('maskWeight:0,1'), open],
      },
      {
        show: ['masks'],
        state: 'mk=causal&mo=3',
        guess: true,
        exercises: [number('swapMasked', 0.03), right(0)],
      },
      { show: ['masks'], state: 'mk=none&mo=3', exercises: [number('swapPlaced', 0.03), open] },
      {
        show: ['masks'],
        state: `mk=painted&mp=0000${'ffff'.repeat(15)}`,
        exercises: [number('maskEmpty', 0.001), open],
      },
    ],
  },
  {
    name: 'heads',
    chapter: 'heads',
    minutes: 15,
    steps: [
      { show: ['sentence', 'map'], state: 'h=1', exercises: [number('largest'), open] },
      { show: ['sentence', 'map'], state: 'h=3', exercises: [number('entropy'), right(2)] },
      { show: ['block'], state: 'bt=concat', exercises: [own(96, 0), number('blockLength:3')] },
      { show: ['block'], state: 'bt=attention', exercises: [number('blockParts'), right(1), open] },
    ],
  },
  {
    name: 'positions',
    chapter: 'order',
    minutes: 20,
    steps: [
      { show: ['positions'], exercises: [number('encoding:1,0'), number('encoding:1,1')] },
      { show: ['positions'], state: 'pp=10&k=5', exercises: [right(1), open] },
      { show: ['positions'], state: 'ps=learned', exercises: [right(1)] },
      {
        show: ['positions'],
        state: 'ps=alibi',
        exercises: [number('schemeValue:30,20'), number('alibiSlope:0')],
      },
      {
        show: ['positions'],
        state: 'ps=rotary&pm=12&pn=5',
        guess: true,
        exercises: [number('rotaryScore'), right(2)],
      },
    ],
  },
  {
    name: 'block',
    chapter: 'blocks',
    minutes: 20,
    about: 'block',
    steps: [
      { show: ['block'], exercises: [right(1), number('blockGrowth'), open] },
      {
        show: ['block'],
        state: 'bn=pre&bt=attention',
        exercises: [number('blockParts'), right(0)],
      },
      { show: ['block'], state: 'bl=12', exercises: [open, open] },
      { show: ['cost'], exercises: [right(2), number('costEven'), number('costCache')] },
      { show: ['cost'], lock: ['costShape'], exercises: [number('costSaving'), open] },
    ],
  },
  {
    name: 'cross',
    chapter: 'blocks',
    minutes: 20,
    about: 'block',
    steps: [
      { show: ['block'], exercises: [right(1), number('crossLargest')] },
      { show: ['block'], exercises: [number('crossPairs', 0.001), right(0), open] },
      { show: ['block'], exercises: [right(1), right(0)] },
      { show: ['block'], exercises: [open, open, open] },
    ],
  },
  {
    name: 'recurrence',
    chapter: 'before',
    minutes: 20,
    about: 'recurrence',
    steps: [
      { show: ['recurrence'], state: 'rcx=3141', lock: ['recurrenceSeed'], exercises: [right(1)] },
      { show: ['recurrence'], state: 'rcx=314159', exercises: [right(2), open] },
      {
        show: ['recurrence'],
        state: 'rcx=31415926535897932384',
        lock: ['recurrenceSource'],
        exercises: [number('recurrenceChance'), open, open],
      },
      {
        show: ['recurrence'],
        lock: ['recurrenceSource'],
        exercises: [number('recurrencePath', 0.001), open, right(0)],
      },
    ],
  },
  {
    name: 'words',
    chapter: 'words',
    minutes: 20,
    about: 'words',
    steps: [
      { show: ['words'], exercises: [number('wordsTfidf:0', 0.005), right(1), open] },
      {
        show: ['words'],
        state: 'wdn=hot&wdo=cold',
        exercises: [number('wordsCosine', 0.005), right(2), open],
      },
      {
        show: ['words'],
        state: 'wda=paris+france+japan',
        exercises: [number('wordsAnswer', 0.005), right(0), open],
      },
      { show: ['words'], state: 'wdn=unfriendliness', exercises: [right(1), open] },
      { show: ['words'], exercises: [right(2), open] },
    ],
  },
  {
    name: 'birth',
    chapter: 'learning',
    minutes: 20,
    about: 'learn',
    steps: [
      {
        show: ['learn'],
        state: 'lt=induction&ls=1',
        lock: ['learnTask'],
        exercises: [right(1), number('learnChance')],
      },
      { show: ['learn'], state: 'lt=induction&ls=1&lv=25', exercises: [open, open] },
      {
        show: ['learn'],
        state: 'lt=induction&ll=1&le=oneLayer',
        lock: ['learnLayers'],
        exercises: [right(0), open],
      },
      {
        show: ['learn'],
        state: 'lt=reverse&lp=none&le=noPositions',
        lock: ['learnPositions'],
        exercises: [open],
      },
      { show: ['learn'], state: 'lt=addition&lc=0&le=leak', exercises: [right(2), open] },
    ],
  },
  {
    name: 'heart',
    chapter: 'learning',
    minutes: 20,
    about: 'learn',
    steps: [
      {
        show: ['learn'],
        state: 'lt=histogram&lf=64&lv=full',
        lock: ['learnTask'],
        exercises: [right(1), open],
      },
      {
        show: ['learn'],
        state: 'lt=histogram&lf=512&lv=full',
        lock: ['learnTask'],
        exercises: [right(2), open],
      },
      {
        show: ['learn'],
        state: 'lt=histogram&lf=64&lv=full&le=overfit',
        lock: ['learnTask'],
        exercises: [open, right(1)],
      },
      { show: ['learn'], state: 'le=noise', exercises: [own(0.188, 0.003), right(0), open] },
    ],
  },
  {
    name: 'trained',
    chapter: 'trained',
    minutes: 20,
    about: 'model',
    steps: [
      { show: ['model'], exercises: [open, number('modelLikelihood')] },
      {
        show: ['model', 'map'],
        state: 'lmsort=previous',
        exercises: [right(1), number('modelScore'), right(2), open],
      },
      {
        show: ['model', 'map'],
        state: `lmw=novels&lmsort=induction&${TWICE}`,
        exercises: [right(1), right(0)],
      },
      {
        show: ['model', 'map'],
        state: `lmw=novels&lmo=0.3&lmsort=change&${TWICE}`,
        exercises: [right(1), open, open],
      },
      {
        show: ['model'],
        state: 'lmt=0',
        lock: ['modelTemperature'],
        exercises: [number('modelNext:0'), right(0), open],
      },
      { show: ['model'], state: 'lmt=1.5', exercises: [number('modelNext:0'), open] },
    ],
  },
  {
    name: 'circuit',
    chapter: 'trained',
    minutes: 20,
    about: 'microscope',
    steps: [
      { show: ['microscope'], exercises: [open, number('microscopeMeasure:0'), right(2)] },
      { show: ['microscope'], exercises: [right(1), right(1), number('microscopeRestored:0,3')] },
      {
        show: ['microscope'],
        state: 'micz=0.3',
        exercises: [right(2), number('microscopeReads:0,3'), open],
      },
      {
        show: ['microscope'],
        // The logit of John less that of Paul, who is not in the sentence.
        state: 'mica=2&mici=8',
        exercises: [right(1), number('microscopeShare:0,3'), right(0)],
      },
      {
        show: ['microscope'],
        state: 'mich=0.3',
        exercises: [right(1), number('microscopeAnswer'), right(2)],
      },
      {
        show: ['microscope'],
        state: `mic=${encodeURIComponent(CHINESE[0])}&micc=${encodeURIComponent(CHINESE[1])}`,
        exercises: [number('microscopeRestored:0,3'), right(1), open],
      },
    ],
  },
  {
    name: 'cost',
    chapter: 'cost',
    minutes: 15,
    about: 'cost',
    steps: [
      { show: ['cost'], exercises: [number('costShare'), right(2)] },
      { show: ['linear'], exercises: [number('linearRatio'), right(1)] },
      { show: ['linear'], state: 'lit=65536', exercises: [number('windowKept', 0.001), right(0)] },
      { show: ['linear'], state: 'lic=8', exercises: [number('linearError', 0.03), open] },
    ],
  },
  {
    name: 'theory',
    chapter: 'theory',
    minutes: 20,
    steps: [
      { show: ['simplex'], exercises: [number('simplexBest', 0.005), right(1)] },
      { show: ['simplex'], state: 'sxp=1000,0', exercises: [number('simplexHere'), right(2)] },
      {
        show: ['fragility'],
        exercises: [number('fragilityBound'), right(0), open],
      },
      { show: ['bounds'], exercises: [number('capacityCover:8'), right(1)] },
      { show: ['bounds'], state: 'bdn=64', exercises: [number('stabilityBeta'), right(2), open] },
    ],
  },
  {
    name: 'checks',
    chapter: 'use',
    minutes: 10,
    about: 'checks',
    steps: [
      { show: ['row'], state: 'rq=2', exercises: [number('rowSum', 0.001), number('rowWeight:1')] },
      { show: ['checks'], exercises: [number('checkHeads', 0.001), own(119, 1), right(1)] },
      { show: ['use'], exercises: [own(42, 0), right(2), open] },
    ],
  },
];
