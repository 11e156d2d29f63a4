import { sentences } from '../../../i18n/i18n';
import type { View } from '../../panel';
import { digits } from '../../../ui/numbers';
import { ModelPart } from './model_part';
import { cutSentence } from './next_token_part';
import type {
  HeadChanges,
  HeadName,
  HeadScores,
  Losses,
  ModelInfo,
  NextToken,
} from '../shared/protocol';
import { HEAD_ORDERS, type HeadOrder } from '../state';
import { t } from '../feature';

const SCORES = ['previous', 'first', 'induction'] as const;
/** A score that is worth a sentence. */
const STRONG = 0.5;

const same = ([a, b]: HeadName, [c, d]: HeadName) => a === c && b === d;

/** All heads: what they read, and what the text loses without them. */
export class HeadsPart extends ModelPart {
  #view: View | null = null;

  protected template(): string {
    const orders = HEAD_ORDERS.map(
      (order) => `<option value="${order}" data-t="model.heads.order.${order}"></option>`,
    );
    return `
      <h3 data-t="model.heads.title"></h3>
      <p class="hint" data-t="model.heads.intro"></p>
      <div class="model-controls" data-control>
        <label class="minus"><span data-t="model.heads.sort"></span> <select class="order">${orders.join('')}</select></label>
        <button type="button" class="button all" data-t="model.heads.all"></button>
        <button type="button" class="button back" data-t="model.heads.back"></button>
      </div>
      <p class="model-loss" role="status"></p>
      <ul class="model-heads"></ul>
      <p class="model-story"></p>
      <p class="hint model-check"></p>`;
  }

  protected override ready(): void {
    const order = this.find('.order', HTMLSelectElement);
    order.addEventListener('change', () => {
      const modelOrder = HEAD_ORDERS.find((name) => name === order.value);
      if (modelOrder) this.change({ modelOrder });
    });
    this.onClick('.all', () => this.tell({ kind: 'changes' }));
    this.onClick('.back', () => this.change({ modelOut: [] }));
    this.find('.model-heads', HTMLElement).addEventListener('click', (event) => {
      const button = event.target instanceof Element ? event.target.closest('button') : null;
      const at = Number(button?.closest('li')?.dataset['head']);
      if (button && Number.isInteger(at)) this.#act(button.dataset['do'] ?? '', at);
    });
  }

  #act(what: string, at: number): void {
    const view = this.#view;
    const info = view?.model.info;
    if (!view || !info) return;
    const head: HeadName = [Math.floor(at / info.numHeads), at % info.numHeads];
    if (what === 'map') {
      const { modelAt } = view.state;
      this.change({ source: 'trained', head: at, other: null, query: modelAt });
      location.hash = 'map'; // as a link: Back is where the reader was
      return;
    }
    const out = view.state.modelOut;
    const without = out.filter((each) => !same(each, head));
    this.change({ modelOut: without.length < out.length ? without : [...out, head] });
  }

  update(view: View): void {
    this.#view = view;
    const { model, state, look } = view;
    const { info, answers, changes } = model;
    const { scores, losses, reading, next } = answers;
    if (!info) return;
    const { modelOut: out, modelOrder: order, language } = state;
    if (!this.changed(info, scores, losses, next, changes, out, order, language, look)) return;
    this.find('.order', HTMLSelectElement).value = order;
    const ofText = changes?.reading === reading?.id ? changes : null;
    this.find('.all', HTMLButtonElement).disabled = !info.speaks || (ofText?.running ?? false);
    this.find('.back', HTMLButtonElement).disabled = out.length === 0;
    this.#loss(losses ?? null, next ?? null);
    if (!scores) {
      this.find('.model-heads', HTMLElement).replaceChildren();
      this.setText('.model-story', '');
      this.setText('.model-check', '');
      return;
    }
    this.#list(info, scores, { out, changes: ofText, order });
    this.setText('.model-story', story(scores));
    const checked = checkOf(scores);
    this.setText(
      '.model-check',
      sentences(t('model.heads.how', { count: scores.repeated }), checked),
    );
  }

  #loss(losses: Losses | null, next: NextToken | null): void {
    if (!losses) {
      this.setText('.model-loss', '');
      return;
    }
    const { whole, ablated, heads } = losses;
    const loss = digits(whole, 4);
    const names = heads.map((head) => head.join('.')).join(', ');
    const text =
      ablated === null
        ? t('model.heads.loss', { loss })
        : t('model.heads.without', {
            loss,
            names,
            ablated: digits(ablated, 4),
            change: signed(ablated - whole),
          });
    this.setText('.model-loss', sentences(text, next ? cutSentence(next) : ''));
  }

  #list(
    info: ModelInfo,
    scores: HeadScores,
    {
      out,
      changes,
      order,
    }: { out: readonly HeadName[]; changes: HeadChanges | null; order: HeadOrder },
  ): void {
    const list = this.find('.model-heads', HTMLElement);
    const focused = document.activeElement;
    const held = focused instanceof HTMLElement && list.contains(focused) ? focused : null;
    const again = held && [held.closest('li')?.dataset['head'], held.dataset['do']];
    list.style.setProperty('--columns', String(order === 'layer' ? columnsFor(info.numHeads) : 4));
    const places = [...scores.previous.keys()];
    if (order !== 'layer') {
      const values = order === 'change' ? changes?.changes : scores[order];
      places.sort((a, b) => (values?.[b] || 0) - (values?.[a] || 0));
    }
    const most = Math.max(1e-6, ...Array.from(changes?.changes ?? [], (x) => Math.abs(x) || 0));
    const items = places.map((at) => {
      const head: HeadName = [Math.floor(at / info.numHeads), at % info.numHeads];
      const change = changes?.changes[at] ?? NaN;
      return item(at, head, {
        info,
        scores,
        change,
        most,
        out: out.some((each) => same(each, head)),
      });
    });
    list.replaceChildren(...items);
    if (again)
      list.querySelector<HTMLElement>(`[data-head="${again[0]}"] [data-do=${again[1]}]`)?.focus();
  }
}

/** A layer is one line, or several of the same length. */
const columnsFor = (heads: number) => [4, 3, 2].find((columns) => heads % columns === 0) ?? 4;

interface Item {
  readonly info: ModelInfo;
  readonly scores: HeadScores;
  readonly change: number;
  /** The largest change of all heads, which has the full colour. */
  readonly most: number;
  readonly out: boolean;
}

function item(at: number, head: HeadName, { info, scores, change, most, out }: Item): HTMLElement {
  const box = document.createElement('li');
  box.dataset['head'] = String(at);
  box.classList.toggle('out', out);
  const name = head.join('.');
  const values = SCORES.map((score) => scores[score][at]!);
  const bars = SCORES.map(
    (score, i) => `<span class="model-score"><span>${t(`model.heads.${score}`)}</span>
      <span class="bar"><i></i></span><span class="value">${values[i]!.toFixed(2)}</span></span>`,
  );
  const drawn = info.notDrawn === null;
  box.innerHTML = `
    <b>${name}</b> <span class="model-change"></span>
    ${bars.join('')}
    <span class="model-head-buttons">
      ${info.speaks ? `<button type="button" class="button" data-do="out" aria-pressed="${out}"></button>` : ''}
      ${drawn ? `<button type="button" class="button" data-do="map"></button>` : ''}
    </span>`;
  box.querySelectorAll<HTMLElement>('.bar i').forEach((bar, i) => {
    bar.style.width = `${100 * values[i]!}%`;
  });
  for (const button of box.querySelectorAll<HTMLElement>('button')) {
    const text = button.dataset['do'] === 'map' ? 'model.heads.map' : 'model.heads.out';
    button.textContent = t(text);
    button.setAttribute('aria-label', t(`${text}Of`, { name }));
  }
  if (Number.isFinite(change)) {
    const told = box.querySelector<HTMLElement>('.model-change');
    if (told) told.textContent = signed(change);
    box.dataset['change'] = change > 0 ? 'more' : 'less';
    const share = Math.round(100 * Math.sqrt(Math.abs(change) / most));
    box.style.setProperty('--share', `${share}%`);
  }
  return box;
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
  const told = SCORES.map((name) => {
    const values = scores[name];
    const at = values.reduce((best, x, i) => (x > values[best]! ? i : best), 0);
    const most = values[at]!;
    const head = `${Math.floor(at / scores.numHeads)}.${at % scores.numHeads}`;
    const strength = most >= STRONG ? 'Strong' : 'Weak';
    return t(`model.heads.${name}${strength}`, { head, value: most.toFixed(2) });
  });
  return sentences(...told);
}
