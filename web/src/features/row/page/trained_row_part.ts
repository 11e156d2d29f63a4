import { trainedHeadName } from '../../../domain/sources';
import { digits } from '../../../ui/numbers';
import { Panel, type View } from '../../panel';
import { cell, drawCells, trackOf } from './number_cells';
import type { LearnedRow } from '../worker/trained_row';
import { t } from '../feature';

const ORDER = ['product', 'scaled', 'tempered', 'exp', 'weight', 'core'] as const;

const row = (name: string, title: string, cells: string) => `
  <div role="row" class="step" data-step="${name}">
    <div role="rowheader" class="step-head"><span class="step-name">${title}</span>
      <span class="track" data-track="${name}"></span></div>
    ${cells}
  </div>`;

/** The same steps for the chosen query of a trained head, whose numbers are as the model has them. */
export class LearnedPart extends Panel {
  protected template(): string {
    return `
      <div class="card row-card row-learned" hidden>
        <h3></h3>
        <p class="hint row-learned-intro"></p>
        <div class="steps" role="table" data-t-label="row.learned.table"></div>
        <p class="hint row-learned-note"></p>
      </div>`;
  }

  update({ state, heads, frame, list, look }: View): void {
    const steps = state.source === 'trained' ? (frame?.row?.learned ?? null) : null;
    this.find('.row-learned', HTMLElement).hidden = steps === null;
    if (!steps || !this.changed(steps, list.tokens, look)) return;
    const token = (place: number) => list.tokens[place] ?? '';
    const { query, width, allowed, keys, sum, max, error } = steps;
    this.setText('h3', t('row.learned.title', { head: trainedHeadName(heads, steps.head) }));
    const values = { token: token(query), at: query, count: allowed, shown: keys.length, width };
    this.setText('.row-learned-intro', t('row.learned.intro', values));
    this.#build(steps, token);
    const scores = steps.temperature === 1 ? 's' : 's/τ';
    const note = { scores, sum: digits(sum, 4), max: digits(max, 4), error: digits(error, 2) };
    this.setText('.row-learned-note', t('row.learned.note', note));
  }

  #build(steps: LearnedRow, token: (place: number) => string): void {
    const box = this.find('.steps', HTMLElement);
    const { keys, terms, temperature } = steps;
    // At 1 it divides nothing.
    const shown = ORDER.filter((step) => step !== 'tempered' || temperature !== 1);
    const nameOf = (step: (typeof ORDER)[number]) =>
      step === 'tempered' ? t('row.learned.tempered', { temperature }) : t(`row.${step}`);
    box.style.setProperty('--keys', String(keys.length));
    const all = (make: (j: number) => string) => keys.map((_, j) => make(j)).join('');
    const results = (step: string) =>
      all((j) => cell(`<span class="bar"><i></i></span><b></b>`, step, j));
    const most = Math.max(...terms.flatMap((each) => Array.from(each, Math.abs)));
    box.innerHTML = [
      row(
        'key',
        t('row.learned.keys'),
        all(() => cell('<bdi class="row-token"></bdi>')),
      ),
      row(
        'terms',
        t('row.learned.terms', { width: steps.width }),
        all((j) => cell(bars(terms[j], most))),
      ),
      ...shown.map((step) => row(step, nameOf(step), results(step))),
    ].join('');
    box.querySelectorAll('.row-token').forEach((name, j) => {
      const place = keys[j] ?? 0;
      name.textContent = `${token(place)} ${place}`;
    });
    const values = {
      product: steps.products,
      scaled: steps.scaled,
      tempered: steps.tempered,
      exp: steps.exps,
      weight: steps.weights,
      core: steps.core,
    };
    for (const step of shown) {
      drawCells(this, step, values[step], 0);
      const [low, high] = trackOf(step, values[step]);
      this.setText(
        `[data-track=${step}]`,
        t('row.track', { low: digits(low, 3), high: digits(high, 3) }),
      );
    }
  }
}

/** Products as bars, upwards where positive. */
function bars(terms: Float32Array | undefined, most: number): string {
  const all = Array.from(terms ?? [], (term, c) => {
    const size = (20 * Math.abs(term)) / (most || 1);
    const y = term > 0 ? 20 - size : 20;
    return `<rect class="${term > 0 ? 'up' : 'down'}" x="${c}" y="${y.toFixed(2)}" width="0.8" height="${size.toFixed(2)}"/>`;
  });
  const label = t('row.learned.bars');
  return `<svg class="row-terms" viewBox="0 0 ${all.length} 40" preserveAspectRatio="none" role="img" aria-label="${label}">${all.join('')}</svg>`;
}

customElements.define('qkv-row-learned', LearnedPart);
