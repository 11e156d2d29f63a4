import { largestAt } from '../../../domain/largest_at';
import { html, nothing, type TemplateResult } from 'lit-html';
import { sentences } from '../../../i18n/i18n';
import type { State } from '../../../state/state';
import { options, withValue } from '../../../ui/lit/controls';
import type { View } from '../../panel';
import { digits } from '../../../ui/numbers';
import { bar, ModelPart } from './model_part';
import { cutSentence } from './next_token_part';
import type { HeadName, HeadScores, Losses, ModelInfo, NextToken } from '../shared/protocol';
import { HEAD_ORDERS, type HeadOrder } from '../state';
import { t } from '../feature';

const SCORES = ['previous', 'first', 'induction'] as const;
/** A score that is worth a sentence. */
const STRONG = 0.5;

const same = ([a, b]: HeadName, [c, d]: HeadName) => a === c && b === d;

/** Of each head, what the loss changes by without it; undefined: it was not requested. */
type Changes = Float32Array | undefined;

/** All heads: what they read, and what the text loses without them. */
export class HeadsPart extends ModelPart {
  protected inputs({ model, state, look }: View): readonly unknown[] {
    const { info, changes, answers } = model;
    const { reading, scores, losses, next } = answers;
    const { modelOut, modelOrder, modelAt } = state;
    return [
      ...[info, changes, reading, scores, losses, next],
      ...[modelOut, modelOrder, modelAt, look],
    ];
  }

  protected render({ model, state }: View): TemplateResult {
    const { info, answers } = model;
    const { reading, scores, losses, next } = answers;
    const changes = model.changes?.reading === reading?.id ? model.changes : null;
    const columns = info && state.modelOrder === 'layer' ? columnsFor(info.numHeads) : 4;
    return html`
      <h3>${t('model.heads.title')}</h3>
      <p class="hint">${t('model.heads.intro')}</p>
      ${this.#tools(state, !info?.speaks || changes?.running === true)}
      <p class="model-loss" role="status">${losses && lossText(losses, next ?? null)}</p>
      <ul class="model-heads" .style=${`--columns: ${columns}`}>${
        info && scores && this.#items(info, scores, changes?.changes, state)
      }</ul>
      <p class="model-story">${scores && story(scores)}</p>
      <p class="hint model-check">${scores && sentences(t('model.heads.how', { count: scores.repeated }), checkOf(scores))}</p>`;
  }

  #tools({ modelOut, modelOrder }: State, isBusy: boolean): TemplateResult {
    const orders = HEAD_ORDERS.map((order) => [order, t(`model.heads.order.${order}`)] as const);
    const sort = (value: string) => {
      const order = HEAD_ORDERS.find((name) => name === value);
      if (order) this.change({ modelOrder: order });
    };
    return html`<div class="model-controls" data-control>
      <label class="minus"><span>${t('model.heads.sort')}</span> <select class="order" @change=${withValue(sort)}>${options(orders, modelOrder)}</select></label>
      <button type="button" class="button all" ?disabled=${isBusy} @click=${() => this.tell({ kind: 'changes' })}>${t('model.heads.all')}</button>
      <button type="button" class="button back" ?disabled=${modelOut.length === 0} @click=${() => this.change({ modelOut: [] })}>${t('model.heads.back')}</button>
    </div>`;
  }

  #items(info: ModelInfo, scores: HeadScores, changes: Changes, state: State): TemplateResult[] {
    const most = Math.max(1e-6, ...Array.from(changes ?? [], (x) => Math.abs(x) || 0));
    return placesIn(state.modelOrder, scores, changes).map((at) => {
      const head: HeadName = [Math.floor(at / info.numHeads), at % info.numHeads];
      const change = changes?.[at] ?? NaN;
      const isOut = state.modelOut.some((each) => same(each, head));
      return html`<li data-head=${at} class=${isOut ? 'out' : nothing} data-change=${signOf(change)} .style=${shadeOf(change, most)}>
        <b>${head.join('.')}</b> <span class="model-change">${Number.isFinite(change) ? signed(change) : ''}</span>
        ${SCORES.map((score) => scoreOf(score, scores[score][at]!))}
        <span class="model-head-buttons">
          ${info.speaks ? headButton('out', head, () => this.#ablate(head, state), isOut) : nothing}
          ${info.notDrawn === null ? headButton('map', head, () => this.#toMap(at, state)) : nothing}
        </span></li>`;
    });
  }

  #ablate(head: HeadName, { modelOut }: State): void {
    const without = modelOut.filter((each) => !same(each, head));
    this.change({ modelOut: without.length < modelOut.length ? without : [...modelOut, head] });
  }

  #toMap(head: number, { modelAt }: State): void {
    this.change({ source: 'trained', head, other: null, query: modelAt });
    location.hash = 'map'; // as a link: Back is where the reader was
  }

  /** In another order the focus stays with the head, not with the place. */
  protected override refresh(): void {
    const held = document.activeElement?.closest<HTMLElement>('.model-heads button');
    const { head } = held?.closest('li')?.dataset ?? {};
    super.refresh();
    if (!held) return;
    const now = `[data-head="${head}"] [data-do=${held.dataset['do']}]`;
    const button = this.querySelector<HTMLElement>(now);
    if (button !== held) button?.focus();
  }
}

/** A layer is one line, or several of the same length. */
const columnsFor = (heads: number) => [4, 3, 2].find((columns) => heads % columns === 0) ?? 4;

/** Heads in an order: of the largest number first. */
function placesIn(order: HeadOrder, scores: HeadScores, changes: Changes): number[] {
  const places = [...scores.previous.keys()];
  if (order === 'layer') return places;
  const values = order === 'change' ? changes : scores[order];
  return places.sort((a, b) => (values?.[b] || 0) - (values?.[a] || 0));
}

const scoreOf = (name: (typeof SCORES)[number], value: number) => html`
  <span class="model-score"><span>${t(`model.heads.${name}`)}</span>${bar(value, value.toFixed(2))}</span>`;

const headButton = (what: 'out' | 'map', head: HeadName, press: () => void, isPressed?: boolean) =>
  html`<button type="button" class="button" data-do=${what} aria-pressed=${isPressed ?? nothing}
    aria-label=${t(`model.heads.${what}Of`, { name: head.join('.') })} @click=${press}>${t(`model.heads.${what}`)}</button>`;

const signOf = (change: number) => {
  if (!Number.isFinite(change)) return nothing;
  return change > 0 ? 'more' : 'less';
};

/** The largest change of all heads has the full colour. */
const shadeOf = (change: number, most: number) =>
  Number.isFinite(change)
    ? `--share: ${Math.round(100 * Math.sqrt(Math.abs(change) / most))}%`
    : '';

function lossText({ whole, ablated, heads }: Losses, next: NextToken | null): string {
  const loss = digits(whole, 4);
  const without = (value: number) =>
    t('model.heads.without', {
      ...{ loss, names: heads.map((head) => head.join('.')).join(', ') },
      ...{ ablated: digits(value, 4), change: signed(value - whole) },
    });
  return sentences(
    ablated === null ? t('model.heads.loss', { loss }) : without(ablated),
    next ? cutSentence(next) : '',
  );
}

/** How far the other panels are from the model's own pass. */
function checkOf({ difference }: HeadScores): string {
  if (!Number.isFinite(difference)) return '';
  if (difference === 0) return t('model.heads.checkSame');
  return t('model.heads.check', { difference: digits(difference, 2) });
}

const signed = (value: number) => (value < 0 ? `−${digits(-value, 3)}` : `+${digits(value, 3)}`);

/** Which head scores most of each, and whether that is much. */
function story(scores: HeadScores): string {
  const said = SCORES.map((name) => {
    const values = scores[name];
    const at = largestAt(values);
    const most = values[at]!;
    const head = `${Math.floor(at / scores.numHeads)}.${at % scores.numHeads}`;
    const strength = most >= STRONG ? 'Strong' : 'Weak';
    return t(`model.heads.${name}${strength}`, { head, value: most.toFixed(2) });
  });
  return sentences(...said);
}
