import '../../ui/plot.css';
import './style.css';
import { describeFailure } from '../../domain/describe_failure';
import type { Figure } from '../../ui/export_figure';
import { reasonOf } from '../../ui/reason';
import { Panel, type View } from '../panel';
import { AnalogyPart } from './page/analogy_part';
import { ContextsPart } from './page/contexts_part';
import { CountingPart } from './page/counting_part';
import { wordsFigure } from './page/figure';
import { MethodsPart } from './page/methods_part';
import { NeighboursPart } from './page/neighbours_part';
import { PlanePart } from './page/plane_part';
import { CARD, fetchWords, knownWords } from './page/word_source';
import type { WordsPart } from './page/words_part';
import { shownWords } from './page/shown_words';
import { t } from './feature';

const PARTS = {
  'qkv-words-counting': CountingPart,
  'qkv-words-neighbours': NeighboursPart,
  'qkv-words-plane': PlanePart,
  'qkv-words-analogy': AnalogyPart,
  'qkv-words-methods': MethodsPart,
  'qkv-words-contexts': ContextsPart,
};

/** Words as vectors: counted ones, and learned ones, which are fetched with the panel. */
class WordsPanel extends Panel {
  override readonly followsModel = true;
  #view: View | null = null;
  #failure: { readonly code: string; readonly message: string } | null = null;
  #parts: readonly WordsPart[] = [];

  protected template(): string {
    const card = (name: string) =>
      `<div class="card words-card"><qkv-words-${name}></qkv-words-${name}></div>`;
    return `
      ${card('counting')}
      <div class="card words-waiting" role="status"><p></p>
        <div class="buttons"><button type="button" class="button" data-press="retry" data-t="words.retry"></button></div></div>
      <div class="words-learned" hidden>
        ${['neighbours', 'plane', 'analogy'].map(card).join('')}
      </div>
      ${card('methods')}
      ${card('contexts')}`;
  }

  protected override ready(): void {
    this.#parts = Object.entries(PARTS).map(([name, type]) => this.find<WordsPart>(name, type));
    this.find('[data-press=retry]', HTMLElement).addEventListener('click', () => this.#fetch());
    if (knownWords() === null) this.#fetch();
  }

  #fetch(): void {
    this.#failure = null;
    fetchWords()
      .catch((error: unknown) => (this.#failure = describeFailure(error)))
      .finally(() => {
        if (this.#view) this.update(this.#view);
      });
    if (this.#view) this.update(this.#view);
  }

  update(view: View): void {
    this.#view = view;
    const table = knownWords();
    // A part without a size would be drawn when it has one; it is laid out before.
    this.find('.words-waiting', HTMLElement).hidden = table !== null;
    this.setAttribute('aria-busy', String(table === null && this.#failure === null));
    this.find('.words-learned', HTMLElement).hidden = table === null;
    if (!table) this.#wait();
    for (const part of this.#parts) {
      part.table = table;
      part.update(view);
    }
  }

  #wait(): void {
    const failure = this.#failure;
    const size = Math.round(CARD.file.bytes / 1000);
    const reason =
      failure?.code === 'other_file' ? t('words.otherFile') : failure && reasonOf(failure);
    const text = reason ? t('words.failed', { reason }) : t('words.fetching', { size });
    this.setText('.words-waiting p', text);
    this.find('[data-press=retry]', HTMLButtonElement).hidden = failure === null;
  }

  override figure({ state }: View): Promise<Figure | null> {
    const table = knownWords();
    if (!table) return Promise.resolve(null);
    const { plane } = this.find('qkv-words-plane', PlanePart);
    const { judged } = this.find('qkv-words-analogy', AnalogyPart);
    return Promise.resolve(wordsFigure(table, shownWords(state).near, plane, judged));
  }
}

for (const [name, type] of Object.entries(PARTS)) customElements.define(name, type);
customElements.define('qkv-panel-words', WordsPanel);
