import '../../ui/plot.css';
import './style.css';
import { html, type TemplateResult } from 'lit-html';
import type { Figure } from '../../ui/export_figure';
import { LitPanel } from '../lit_panel';
import type { Panel, View } from '../panel';
import { DescriptionPart, loadedText } from './page/description_part';
import { EmbeddingsPart } from './page/embeddings_part';
import { modelFigure } from './page/figure';
import { HeadsPart } from './page/heads_part';
import { LensGridPart } from './page/lens_grid_part';
import { LensPart } from './page/lens_part';
import { ReadsPart } from './page/reads_part';
import { RolloutPart } from './page/rollout_part';
import { listenToDrops, LoadPart } from './page/load_part';
import { NextPart } from './page/next_token_part';
import { SpeedPart } from './page/speed_part';
import { TokensPart } from './page/tokens_part';
import { WritePart } from './page/write_part';

const PARTS = {
  'qkv-model-load': LoadPart,
  'qkv-model-description': DescriptionPart,
  'qkv-model-tokens': TokensPart,
  'qkv-model-grid': LensGridPart,
  'qkv-model-next': NextPart,
  'qkv-model-lens': LensPart,
  'qkv-model-rollout': RolloutPart,
  'qkv-model-write': WritePart,
  'qkv-model-speed': SpeedPart,
  'qkv-model-reads': ReadsPart,
  'qkv-model-heads': HeadsPart,
  'qkv-model-embeddings': EmbeddingsPart,
};

/** A language model that was trained before, or the reader's own: what it says next, and what it is made of. */
class ModelPanel extends LitPanel {
  override readonly followsModel = true;

  protected override ready(): void {
    listenToDrops(this, (files) => this.find('qkv-model-load', LoadPart).loadFiles(files));
  }

  override update(view: View): void {
    super.update(view);
    for (const [name, type] of Object.entries(PARTS)) this.find<Panel>(name, type).update(view);
  }

  protected inputs({ model, look }: View): readonly unknown[] {
    return [model.info, model.answers.plane, look];
  }

  protected render({ model: { info, answers } }: View): TemplateResult {
    // Parts that the model has nothing for are not there.
    const card = (part: TemplateResult, isThere = true) =>
      html`<div class="card model-card" ?hidden=${!isThere}>${part}</div>`;
    const speaks = info?.speaks ?? false;
    return html`
      ${card(html`<qkv-model-load></qkv-model-load><qkv-model-description></qkv-model-description>`)}
      <div class="model-loaded" ?hidden=${info === null}>
        ${card(html`<qkv-model-tokens></qkv-model-tokens>`)}
        <div class="model-pair">
          <div>${card(html`<qkv-model-next></qkv-model-next>`, speaks)}${card(html`<qkv-model-lens></qkv-model-lens>`, speaks)}</div>
          <div>
            ${card(html`<qkv-model-write></qkv-model-write>`, speaks)}
            ${card(html`<qkv-model-speed></qkv-model-speed>`, speaks)}
            ${card(html`<qkv-model-rollout></qkv-model-rollout>`)}
          </div>
        </div>
        ${card(html`<qkv-model-grid></qkv-model-grid>`, speaks)}
        ${card(html`<qkv-model-reads></qkv-model-reads>`)}
        ${card(html`<qkv-model-heads></qkv-model-heads>`)}
        ${card(html`<qkv-model-embeddings></qkv-model-embeddings>`, answers.plane !== null)}
      </div>
      <p class="visually-hidden" role="status" data-said>${info && loadedText(info)}</p>`;
  }

  override figure(view: View): Promise<Figure | null> {
    return Promise.resolve(modelFigure(view));
  }
}

for (const [name, type] of Object.entries(PARTS)) customElements.define(name, type);
customElements.define('qkv-panel-model', ModelPanel);
