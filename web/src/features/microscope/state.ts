import {
  freeText,
  integer,
  optional,
  optionalNumber,
  type Field,
  type StateOf,
} from '../../state/field';
import type { CutEdge, CutHead, MicroscopeAsk, Zoom } from './shared/protocol';
import type { Pair } from './shared/ready_pairs';

/** Of a prompt a link holds so much. */
export const LONGEST_PROMPT = 400;
/** Cuts that a link can hold. */
const MOST_CUTS = 64;

/** Lists of whole numbers as 0.3,2.1. */
function lists<Of extends readonly number[]>(key: string, count: number): Field<readonly Of[]> {
  const pattern = new RegExp(`^\\d{1,4}(\\.\\d{1,4}){${count - 1}}$`);
  return {
    key,
    initial: [],
    write: (all) => all.map((each) => each.join('.')).join(),
    read(raw) {
      const parts = raw.split(',').slice(0, MOST_CUTS);
      if (!parts.every((part) => pattern.test(part))) return undefined;
      // The pattern has as many numbers as the tuple.
      return parts.map((part) => part.split('.').map(Number) as unknown as Of);
    },
  };
}

/** A layer as 1, a head of it as 1.3. */
const zoom: Field<Zoom> = {
  key: 'micz',
  initial: [],
  write: (place) => place.join('.'),
  read(raw) {
    const [, layer, head] = /^(\d{1,4})(?:\.(\d{1,4}))?$/.exec(raw) ?? [];
    if (layer === undefined) return undefined;
    return head === undefined ? [Number(layer)] : [Number(layer), Number(head)];
  },
};

export const microscopeFields = {
  /** The prompts; null, as after all of one is deleted: the pair that is ready for the model. */
  microscopeClean: optional(freeText('mic', LONGEST_PROMPT)),
  microscopeCorrupt: optional(freeText('micc', LONGEST_PROMPT)),
  /** The tokens whose logits are compared; null: the likeliest after each prompt. */
  microscopeAnswer: optionalNumber(integer('mica', 0, [0, 999999])),
  microscopeInstead: optionalNumber(integer('mici', 0, [0, 999999])),
  /** What is cut; null: nothing. */
  microscopeHeads: optional(lists<CutHead>('mich', 2)),
  microscopeEdges: optional(lists<CutEdge>('mice', 4)),
  /** Where the picture of the pass is zoomed to; null: it shows the whole model. */
  microscopeZoom: optional(zoom),
  /** The token that it follows; null: the last. */
  microscopeAt: optionalNumber(integer('mict', 0, [0, 999])),
};
export type MicroscopeState = StateOf<typeof microscopeFields>;

/** Other prompts have other tokens: what was chosen among those of the ones before means nothing. */
export const OTHER_PROMPTS = {
  ...{ microscopeAnswer: null, microscopeInstead: null },
  ...{ microscopeEdges: null, microscopeAt: null },
} as const;

/** Another model has other tokens and other heads. */
export const OTHER_MODEL = {
  ...OTHER_PROMPTS,
  ...{ microscopeHeads: null, microscopeZoom: null },
} as const;

/** What is cut in this state. */
export const cutsIn = ({ microscopeHeads, microscopeEdges }: MicroscopeState) => ({
  ...{ heads: microscopeHeads ?? [], edges: microscopeEdges ?? [] },
});

/** The head that is zoomed to; null: a layer is, or the whole model. */
const headOf = ([layer, head]: Zoom): CutHead | null =>
  layer === undefined || head === undefined ? null : [layer, head];

/** A list as the state has it. */
export const cutsOrNone = <Of>(list: readonly Of[]): readonly Of[] | null =>
  list.length > 0 ? list : null;

/** What the panel asks of a loaded model in this state. */
export const microscopeAsk = (state: MicroscopeState, ready: Pair): MicroscopeAsk => ({
  clean: state.microscopeClean ?? ready.clean,
  corrupt: state.microscopeCorrupt ?? ready.corrupt,
  answer: state.microscopeAnswer,
  instead: state.microscopeInstead,
  ...cutsIn(state),
  at: state.microscopeAt,
  head: headOf(state.microscopeZoom ?? []),
});
