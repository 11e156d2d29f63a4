import { shape } from '../../../ui/plot';
import type { Kind } from '../shared/model_configs';

/** On the page marks have classes, in a file colours of their own. */
export type Paper = 'page' | 'file';
type Attributes = Readonly<Record<string, string | number>>;

/** Colours, dashes and points differ, so that one of them is enough to tell the models apart. */
const IN_FILE: Readonly<Record<Kind, readonly [colour: string, dashes: string]>> = {
  gru: ['#d55e00', '9 4'],
  gru_attention: ['#0072b2', 'none'],
  transformer: ['#973a6b', '2 3'],
};

/** The curve of a model: as it is now, or with its initial weights. */
export function lineOf(paper: Paper, kind: Kind, when: 'now' | 'first' = 'now'): Attributes {
  if (paper === 'page') return { class: `kind kind-${kind} kind-${when}` };
  const [stroke, dashes] = IN_FILE[kind];
  const width = when === 'now' ? 2.5 : 1;
  return { fill: 'none', stroke, 'stroke-width': width, 'stroke-dasharray': dashes };
}

/** A point of it: an open circle, a full one, a square. */
export function pointOf(paper: Paper, kind: Kind, x: number, y: number): string {
  const [colour] = IN_FILE[kind];
  const fill = kind === 'gru' ? '#ffffff' : colour;
  const pen: Attributes =
    paper === 'page'
      ? { class: `kind-point kind-${kind}` }
      : { fill, stroke: colour, 'stroke-width': 2 };
  if (kind !== 'transformer') return shape('circle', { ...pen, cx: x, cy: y, r: 3.5 });
  return shape('rect', { ...pen, x: x - 3, y: y - 3, width: 6, height: 6 });
}
