import { html, type TemplateResult } from 'lit-html';
import { live } from 'lit-html/directives/live.js';
import formulas from '../formulas.json';
import { t } from '../feature';
import { MASK_KINDS, SIZED } from '../shared/mask_grid';
import type { MasksResult } from '../worker/masked_grid';
import { LIMITS, type State } from '../../../state/state';
import type { Frame } from '../../../worker/protocol';
import { headName } from '../../head_names';
import { LitPanel } from '../../lit_panel';
import type { View } from '../../panel';
import { radios, withValue } from '../../../ui/lit/controls';
import { percent } from '../../../ui/numbers';
import { formula } from '../../../ui/lit/texts';

/** Which mask, how wide, and what it does to the rows. */
export class ChoicePart extends LitPanel {
  /** The latest with a grid: what is said of it stays while nothing is computed. */
  #frame: Frame | null = null;

  protected inputs({ state, frame, list, look }: View): readonly unknown[] {
    return [state.maskKind, state.maskSize, frame, list, look];
  }

  protected render({ state, frame, list }: View): TemplateResult {
    const isEmpty = list.tokens.length === 0;
    if (frame?.masks && !isEmpty) this.#frame = frame;
    const shown = this.#frame;
    const rows = shown?.masks && !isEmpty ? emptyRowsOf(shown.masks) : '';
    return html`
      ${this.#tools(state)}
      <p class="how">${t(`masks.${state.maskKind}How`)}</p>
      <div class="formula">${formula(formulas.maskedWeight)}</div>
      <p class="hint about">${shown && aboutOf(shown)}</p>
      <p class="cut-next" ?hidden=${!shown?.masks?.next}>${shown?.masks?.next && !isEmpty && nextOf(shown.masks.next, shown.masks.tokens)}</p>
      <p class="note empty-rows" role="status" ?hidden=${rows === ''}>${rows}</p>`;
  }

  #tools({ maskKind, maskSize }: State): TemplateResult {
    const [least, most] = LIMITS.maskSize;
    const kinds = MASK_KINDS.map((kind) => [kind, t(`masks.${kind}`)] as const);
    const sized = maskKind === 'padding' || maskKind === 'prefix' ? maskKind : 'window';
    return html`<div data-control>
      <fieldset class="segmented wrapped"><legend class="visually-hidden">${t('masks.kind')}</legend>
        ${radios('mask-kind', kinds, maskKind, (kind) => this.change({ maskKind: kind }))}</fieldset>
      <div class="control size" ?hidden=${!SIZED.has(maskKind)}>
        <label for="mask-size">${t(`masks.${sized}Size`)}</label>
        <div class="with-number">
          <input id="mask-size" type="range" min=${least} max=${most} step="1"
            aria-valuetext=${t(`masks.${sized}Spoken`, { count: maskSize })} .value=${live(String(maskSize))}
            @input=${withValue((size) => this.change({ maskSize: Number(size) }))}>
          <output for="mask-size">${maskSize}</output>
        </div>
      </div>
    </div>`;
  }
}

/** Of which layer the weights are. */
function aboutOf({ masks, request: { layer } }: Frame): string {
  if (!masks) return '';
  if (layer.source === 'trained') {
    const shown = { head: headName(layer, masks.head), count: masks.tokens.length };
    return t('masks.aboutLearned', { ...shown, total: layer.tokens.length });
  }
  const about = {
    head: headName(layer, masks.head),
    temperature: layer.temperature,
    positions: layer.source === 'yours' ? '–' : t(`positions.${layer.positions}`),
    count: masks.tokens.length,
    total: layer.tokens.length,
  };
  return t(about.count === about.total ? 'masks.about' : 'masks.aboutFirst', about);
}

/** What the model expects after the last token, as it is and under the mask. */
function nextOf(
  { whole, cut }: NonNullable<MasksResult['next']>,
  tokens: readonly string[],
): string {
  const list = (guesses: typeof whole) =>
    guesses.map(({ label, p }) => `${label} ${percent(p)}`).join(t('page.comma'));
  const said = { token: tokens.at(-1) ?? '', whole: list(whole) };
  return cut ? t('masks.next', { ...said, cut: list(cut) }) : t('masks.nextOwn', said);
}

/** The queries that no key is left for; empty: there is none. */
function emptyRowsOf({ empty, tokens }: MasksResult): string {
  const names = empty.map((row) => `${row} “${tokens[row] ?? ''}”`).join(t('page.comma'));
  return empty.length > 0 ? t('masks.empty', { names }) : '';
}

customElements.define('qkv-mask-choice', ChoicePart);
