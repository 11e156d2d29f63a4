import { html, nothing, type TemplateResult } from 'lit-html';
import { t } from '../feature';
import type { CutHead, Share, Shares } from '../shared/protocol';
import { headText, partName, signed } from './names';

/** Bars that are drawn; the parts that give least are one bar. */
const MOST_BARS = 30;

interface Bar extends Share {
  /** How many parts it stands for. */
  readonly count: number;
}

/** The parts that give most, in the order of the model, and the rest as one: together they are the total. */
export function barsOf({ parts }: Pick<Shares, 'parts'>): readonly Bar[] {
  const sizes = [...parts].sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
  const own = new Set(sizes.slice(0, parts.length > MOST_BARS ? MOST_BARS - 1 : MOST_BARS));
  const bars = parts.filter((part) => own.has(part)).map((part) => ({ ...part, count: 1 }));
  const others = parts.filter((part) => !own.has(part));
  if (others.length === 0) return bars;
  const value = others.reduce((sum, part) => sum + part.value, 0);
  return [...bars, { part: 'bias', layer: null, head: null, value, count: others.length }];
}

/** How much each part gives to the measure, as bars about zero; that of a head cuts it. */
export function sharesView(
  { total, parts }: Shares,
  cut: readonly CutHead[],
  press: (head: CutHead) => void,
): TemplateResult {
  const bars = barsOf({ parts });
  const most = Math.max(1e-9, ...bars.map(({ value }) => Math.abs(value)));
  const row = (bar: Bar) => {
    const { layer, head, value, count } = bar;
    const name = count > 1 ? t('microscope.others', { count }) : partName(bar);
    const isCut = cut.some((each) => each[0] === layer && each[1] === head);
    const what =
      layer === null || head === null
        ? name
        : html`<button type="button" class="button" aria-pressed=${isCut}
            aria-label=${t('microscope.cutHead', { name: headText([layer, head]) })} @click=${() => press([layer, head])}>${name}</button>`;
    const width = (50 * Math.abs(value)) / most;
    const place = `width: ${width}%; left: ${value < 0 ? 50 - width : 50}%`;
    return html`<li data-sign=${value < 0 ? 'less' : 'more'} class=${isCut ? 'out' : nothing}>
      <span class="microscope-part">${what}</span>
      <span class="microscope-bar" aria-hidden="true"><i .style=${place}></i></span>
      <span class="value">${signed(value)}</span></li>`;
  };
  return html`
    <ul class="microscope-bars">${bars.map(row)}</ul>
    <p class="microscope-total">${t('microscope.total', { total: signed(total) })}</p>`;
}
