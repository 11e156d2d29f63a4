import { html, type TemplateResult } from 'lit-html';
import formulas from '../formulas.json';
import type { MasksResult } from '../worker/masked_grid';
import { GRID } from '../shared/mask_grid';
import { t } from '../feature';
import { Guess } from '../../../ui/guess';
import { button } from '../../../ui/lit/controls';
import { formula } from '../../../ui/lit/texts';
import { tableHead } from '../../../ui/lit/tables';
import { digits } from '../../../ui/numbers';
import { LIMITS } from '../../../state/state';
import { LitPanel } from '../../lit_panel';
import type { View } from '../../panel';

/** Differences below this are what float32 leaves of sums taken in another order. */
const ROUNDING = 1e-4;

const PLACES = ['without', 'sinusoidal'] as const;
const RULES = ['free', 'masked'] as const;

type Swaps = NonNullable<MasksResult['swaps']>;

/** Shuffles the tokens, and says whether attention noticed. */
export class OrderPart extends LitPanel {
  /** What the reader guessed: that this mask keeps the symmetry, or not. */
  #guess: { value: 'keeps' | 'breaks'; of: string } | null = null;
  /** What a guess is about. */
  #of = '';
  #shuffled = 0;
  /** The latest, which stays while nothing is computed. */
  #result: MasksResult | null = null;

  protected override ready(): void {
    this.addEventListener('guessed', (event) => {
      const { detail } = event as CustomEvent<string | null>;
      const value = detail === 'keeps' || detail === 'breaks' ? detail : null;
      this.#guess = value && { value, of: this.#of };
      // An order must be there that something can be said about.
      this.change({ masksAsk: false, maskShuffle: this.#shuffled || 1 });
    });
    this.addEventListener('guess-again', () => {
      this.change({ masksAsk: true });
      this.find('qkv-guess', Guess).focusFirst();
    });
  }

  override update(view: View): void {
    const { maskKind, maskSize, maskPaint, maskShuffle, source } = view.state;
    const count = Math.min(view.list.tokens.length, GRID);
    this.#shuffled = maskShuffle;
    // A guess shuffles what is as written with the seed 1, and is about that order.
    this.#of = [maskKind, maskSize, maskPaint, source, count, maskShuffle || 1].join();
    super.update(view);
    // Written every time, as a lesson that locks these buttons leaves them as it found them.
    this.find('.shuffle', HTMLButtonElement).disabled = view.list.tokens.length < 2;
    this.find('.as-written', HTMLButtonElement).disabled = maskShuffle === 0;
  }

  protected inputs({ state, frame, look }: View): readonly unknown[] {
    return [this.#of, state.masksAsk, frame?.masks, look];
  }

  protected render({ state, frame }: View): TemplateResult {
    const result = (this.#result = frame?.masks ?? this.#result);
    const swaps = result?.swaps ?? null;
    const [, most] = LIMITS.maskShuffle;
    const shuffle = () => this.change({ maskShuffle: 1 + Math.floor(Math.random() * most) });
    const isLearned = state.source === 'trained';
    return html`
      <h3>${t('masks.orderTitle')}</h3>
      <p>${t(isLearned ? 'masks.orderLearned' : 'masks.orderIntro')}</p>
      <div class="with-number" ?hidden=${isLearned}>
        ${button('shuffle', t('masks.shuffle'), shuffle)}
        ${button('as-written', t('masks.asWritten'), () => this.change({ maskShuffle: 0 }))}
      </div>
      <qkv-guess></qkv-guess>
      <p class="sequence" role="status">${result && swaps && !isLearned && t('masks.sequence', { order: result.tokens.join(' · ') })}</p>
      <div class="swapped" ?hidden=${!swaps || state.masksAsk || isLearned}>${swaps && swapsOf(swaps)}</div>`;
  }

  protected override rendered({ state, frame }: View): void {
    const guess = this.find('qkv-guess', Guess);
    const names = { mask: t(`masks.${state.maskKind}`) };
    guess.ask(state.masksAsk && state.source !== 'trained' ? t('masks.question', names) : null, [
      { value: 'keeps', label: t('masks.guessKeeps') },
      { value: 'breaks', label: t('masks.guessBreaks') },
    ]);
    if (state.masksAsk || this.#guess?.of !== this.#of) this.#guess = null;
    const swaps = frame?.masks?.swaps;
    guess.tell(this.#guess && swaps ? outcomeOf(this.#guess.value, swaps) : '');
  }
}

/** What came of a guess. */
function outcomeOf(value: 'keeps' | 'breaks', { without }: Swaps): string {
  const truth = without.masked > ROUNDING ? 'breaks' : 'keeps';
  const verdict = t(truth === value ? 'guess.right' : 'guess.other');
  const numbers = { masked: digits(without.masked, 2), free: digits(without.free, 2) };
  return t('guess.outcome', { verdict, answer: t('masks.answer', numbers) });
}

function swapsOf(swaps: Swaps): TemplateResult {
  const cell = (place: (typeof PLACES)[number], rule: (typeof RULES)[number]) => {
    const value = swaps[place]?.[rule];
    return html`<td data-swap="${place}-${rule}">${value === undefined ? '–' : digits(value, 2)}</td>`;
  };
  const breaks = swaps.without.masked > ROUNDING;
  return html`
    <div class="formula">${formula(formulas.equivariant)}</div>
    <table class="swaps">
      <caption>${t('masks.swaps')}</caption>
      ${tableHead([null, t('masks.withoutPositions'), t('masks.withPositions')])}
      <tbody>${RULES.map((rule) => html`<tr><th scope="row">${t(`masks.${rule}`)}</th>${PLACES.map((place) => cell(place, rule))}</tr>`)}</tbody>
    </table>
    <p class="why">${t('masks.why')}</p>
    <p class="why mask-why">${t(breaks ? 'masks.maskBreaks' : 'masks.maskKeeps')}</p>`;
}

customElements.define('qkv-mask-order', OrderPart);
