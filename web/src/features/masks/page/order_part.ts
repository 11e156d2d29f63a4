import formulas from '../formulas.json';
import type { MasksResult } from '../worker/masked_grid';
import { GRID } from '../shared/mask_grid';
import { t } from '../feature';
import { Guess } from '../../../ui/guess';
import { digits } from '../../../ui/numbers';
import { LIMITS } from '../../../state/state';
import { Panel, type View } from '../../panel';

/** Differences below this are what float32 leaves of sums taken in another order. */
const ROUNDING = 1e-4;

const PLACES = ['without', 'sinusoidal'] as const;
const RULES = ['free', 'masked'] as const;

const rows = RULES.map(
  (rule) => `
    <tr><th scope="row" data-t="masks.${rule}"></th>
      ${PLACES.map((place) => `<td data-swap="${place}-${rule}"></td>`).join('')}</tr>`,
);

/** Shuffles the tokens, and says whether attention noticed. */
export class OrderPart extends Panel {
  /** What the reader guessed: that this mask keeps the symmetry, or not. */
  #guess: { value: 'keeps' | 'breaks'; of: string } | null = null;
  /** What a guess is about. */
  #of = '';
  #shuffled = 0;

  protected template(): string {
    return `
      <h3 data-t="masks.orderTitle"></h3>
      <p data-t="masks.orderIntro"></p>
      <div class="with-number">
        <button type="button" class="button shuffle" data-t="masks.shuffle"></button>
        <button type="button" class="button as-written" data-t="masks.asWritten"></button>
      </div>
      <qkv-guess></qkv-guess>
      <p class="sequence" role="status"></p>
      <div class="swapped" hidden>
        <div class="formula">${formulas.equivariant}</div>
        <table class="swaps">
          <caption data-t="masks.swaps"></caption>
          <thead><tr><td></td>
            <th scope="col" data-t="masks.withoutPositions"></th>
            <th scope="col" data-t="masks.withPositions"></th></tr></thead>
          <tbody>${rows.join('')}</tbody>
        </table>
        <p class="why" data-t="masks.why"></p>
        <p class="why mask-why"></p>
      </div>`;
  }

  protected override ready(): void {
    this.find('.shuffle', HTMLElement).addEventListener('click', () => {
      const [, most] = LIMITS.maskShuffle;
      this.change({ maskShuffle: 1 + Math.floor(Math.random() * most) });
    });
    this.find('.as-written', HTMLElement).addEventListener('click', () => {
      this.change({ maskShuffle: 0 });
    });
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

  #ask({ state, frame }: View): void {
    const guess = this.find('qkv-guess', Guess);
    const names = { mask: t(`masks.${state.maskKind}`) };
    guess.ask(state.masksAsk ? t('masks.question', names) : null, [
      { value: 'keeps', label: t('masks.guessKeeps') },
      { value: 'breaks', label: t('masks.guessBreaks') },
    ]);
    const swap = frame?.masks?.swaps?.without;
    if (state.masksAsk || this.#guess?.of !== this.#of) this.#guess = null;
    if (!this.#guess || !swap) {
      guess.tell('');
      return;
    }
    const truth = swap.masked > ROUNDING ? 'breaks' : 'keeps';
    const verdict = t(truth === this.#guess.value ? 'guess.right' : 'guess.other');
    const numbers = { masked: digits(swap.masked, 2), free: digits(swap.free, 2) };
    guess.tell(t('guess.told', { verdict, answer: t('masks.answer', numbers) }));
  }

  update(view: View): void {
    const { state, frame, look, list } = view;
    this.#shuffled = state.maskShuffle;
    const { maskKind, maskSize, maskPaint, maskShuffle, source } = state;
    const count = Math.min(list.tokens.length, GRID);
    // A guess shuffles what is as written with the seed 1, and is about that order.
    this.#of = [maskKind, maskSize, maskPaint, source, count, maskShuffle || 1].join();
    this.#ask(view);
    this.find('.as-written', HTMLButtonElement).disabled = state.maskShuffle === 0;
    this.find('.shuffle', HTMLButtonElement).disabled = list.tokens.length < 2;
    const result = frame?.masks;
    if (!result || !this.changed(result, look, state.masksAsk)) return;
    const { swaps } = result;
    this.setText('.sequence', swaps ? t('masks.sequence', { order: sequence(result) }) : '');
    this.find('.swapped', HTMLElement).hidden = swaps === null || state.masksAsk;
    if (!swaps) return;
    for (const place of PLACES) {
      for (const rule of RULES) {
        const value = swaps[place]?.[rule];
        this.setText(`[data-swap=${place}-${rule}]`, value === undefined ? '–' : digits(value, 2));
      }
    }
    const breaks = swaps.without.masked > ROUNDING;
    this.setText('.mask-why', t(breaks ? 'masks.maskBreaks' : 'masks.maskKeeps'));
  }
}

const sequence = ({ tokens }: MasksResult) => tokens.join(' · ');

customElements.define('qkv-mask-order', OrderPart);
