import { sentences } from '../../i18n/i18n';
import './style.css';
import type { Figure } from '../../ui/export_figure';
import { CompositePanel, type Panel, type View } from '../panel';
import { ArchitecturePart } from './page/architecture_part';
import { CrossPart } from './page/cross_part';
import { DatesPart } from './page/dates_part';
import { DepthPart } from './page/depth_part';
import { DiagramPart } from './page/diagram_part';
import { blockFigure } from './page/figure';
import { TapMapPart } from './page/tap_map_part';
import { NormPart } from './page/norm_part';
import { MixingPart } from './page/mixing_part';
import { hasBlock, MAX_BLOCK_TOKENS } from './shared/constants';
import { t } from './feature';
import { provenance } from '../head_names';

/** One transformer block on the sentence, many of them in a stack, and one head reading another sentence. */
class BlockPanel extends CompositePanel {
  parts: readonly Panel[] = [];

  protected template(): string {
    return `
      <p class="placeholder" role="status"></p>
      <div class="card block-card">
        <div class="block-left">
          <qkv-block-diagram></qkv-block-diagram>
          <p class="hint block-weights"></p>
        </div>
        <div class="block-side">
          <qkv-block-map></qkv-block-map>
          <qkv-block-mixing></qkv-block-mixing>
        </div>
      </div>
      <div class="card any-text"><qkv-block-norm></qkv-block-norm></div>
      <div class="card"><qkv-block-depth></qkv-block-depth></div>
      <div class="card any-text"><qkv-block-architecture></qkv-block-architecture></div>
      <div class="card any-text"><qkv-block-dates></qkv-block-dates></div>
      <div class="card block-cross-card"><qkv-block-cross></qkv-block-cross></div>`;
  }

  protected override ready(): void {
    this.parts = [
      this.find('qkv-block-diagram', DiagramPart),
      this.find('qkv-block-map', TapMapPart),
      this.find('qkv-block-mixing', MixingPart),
      this.find('qkv-block-norm', NormPart),
      this.find('qkv-block-depth', DepthPart),
      this.find('qkv-block-architecture', ArchitecturePart),
      this.find('qkv-block-dates', DatesPart),
      this.find('qkv-block-cross', CrossPart),
    ];
  }

  override update(view: View): void {
    super.update(view);
    const { state, engine, list } = view;
    const { source, seed } = state;
    const isLearned = source === 'trained';
    const none = !(hasBlock(source) || isLearned) || list.tokens.length === 0;
    const cards = this.querySelectorAll<HTMLElement>('.card:not(.any-text)');
    // A stack of blocks, and a sentence that is read, are of the page's own heads.
    for (const card of cards) {
      card.hidden = none || (isLearned && !card.classList.contains('block-card'));
    }
    const placeholder = this.find('.placeholder', HTMLElement);
    placeholder.hidden = !none && engine.kind !== 'failed';
    const given = isLearned ? 'block.trained' : 'map.empty';
    const why = source === 'yours' ? 'block.yours' : given;
    this.setText('.placeholder', t(engine.kind === 'failed' ? 'map.failed' : why));
    const shown = Math.min(list.tokens.length, MAX_BLOCK_TOKENS);
    const cut =
      list.tokens.length > shown ? t('block.cut', { shown, total: list.tokens.length }) : '';
    const from = { source: provenance(source, seed), seed };
    const weights = t(isLearned ? 'block.learned.from' : 'block.weightsFrom', from);
    this.setText('.block-weights', sentences(weights, cut));
  }

  override figure({ frame, query }: View): Promise<Figure | null> {
    const { result } = this.find('qkv-block-depth', DepthPart);
    const block = frame?.block;
    return Promise.resolve(block ? blockFigure(block, query, result) : null);
  }
}

customElements.define('qkv-panel-block', BlockPanel);
