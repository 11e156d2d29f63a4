import '../../ui/plot.css';
import './style.css';
import type { Figure } from '../../ui/export_figure';
import { CompositePanel, type Panel, type View } from '../panel';
import { DescriptionPart, loadedText } from './page/description_part';
import { EmbeddingsPart } from './page/embeddings_part';
import { modelFigure } from './page/figure';
import { HeadsPart } from './page/heads_part';
import { LensPart } from './page/lens_part';
import { RolloutPart } from './page/rollout_part';
import { LoadPart } from './page/load_part';
import { NextPart } from './page/next_token_part';
import { SpeedPart } from './page/speed_part';
import { TokensPart } from './page/tokens_part';
import { WritePart } from './page/write_part';

const PARTS = {
  'qkv-model-description': DescriptionPart,
  'qkv-model-tokens': TokensPart,
  'qkv-model-next': NextPart,
  'qkv-model-lens': LensPart,
  'qkv-model-rollout': RolloutPart,
  'qkv-model-write': WritePart,
  'qkv-model-speed': SpeedPart,
  'qkv-model-heads': HeadsPart,
  'qkv-model-embeddings': EmbeddingsPart,
};

/** A language model that was trained before, or the reader's own: what it says next, and what it is made of. */
class ModelPanel extends CompositePanel {
  override readonly followsModel = true;
  protected parts: readonly Panel[] = [];

  protected template(): string {
    const card = (...names: readonly string[]) =>
      `<div class="card model-card">${names.map((name) => `<qkv-model-${name}></qkv-model-${name}>`).join('')}</div>`;
    return `
      <div class="card model-card"><qkv-model-load></qkv-model-load><qkv-model-description></qkv-model-description></div>
      <div class="model-loaded" hidden>
        ${card('tokens')}
        <div class="model-pair">
          <div>${card('next')}${card('lens')}</div>
          <div>${card('write')}${card('speed')}${card('rollout')}</div>
        </div>
        ${card('heads')}
        ${card('embeddings')}
      </div>
      <p class="visually-hidden" role="status" data-said></p>`;
  }

  protected override ready(): void {
    const load = this.find('qkv-model-load', LoadPart);
    const others = Object.entries(PARTS).map(([name, type]) => this.find<Panel>(name, type));
    this.parts = [load, ...others];
    load.dropOn(this);
  }

  override update(view: View): void {
    const { info } = view.model;
    this.find('.model-loaded', HTMLElement).hidden = info === null;
    this.setText(':scope > [data-said]', info ? loadedText(info) : '');
    // Parts that the model has nothing for are not there.
    const speaks = info?.speaks ?? false;
    for (const name of ['next', 'lens', 'write', 'speed']) {
      const card = this.querySelector(`qkv-model-${name}`)?.closest<HTMLElement>('.model-card');
      if (card) card.hidden = !speaks;
    }
    super.update(view);
  }

  override figure(view: View): Promise<Figure | null> {
    return Promise.resolve(modelFigure(view));
  }
}

customElements.define('qkv-model-load', LoadPart);
for (const [name, type] of Object.entries(PARTS)) customElements.define(name, type);
customElements.define('qkv-panel-model', ModelPanel);
