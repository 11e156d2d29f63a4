import '../../../ui/plot.css';
import { pagePen } from '../../../ui/plot';
import { plotStages, stageHtml, type PlotStage } from '../../../ui/plot_stage';
import { Panel, type View } from '../../panel';
import { t } from '../feature';
import { ARCHITECTURE_HEIGHT, drawArchitecture } from './architecture_plot';

/** An encoder and a decoder, drawn: where cross-attention stands, and what it reads. */
export class ArchitecturePart extends Panel {
  #stage: PlotStage | null = null;

  protected template(): string {
    return `
      <h3 data-t="block.twoStacks.title"></h3>
      <p data-t="block.twoStacks.intro"></p>
      <div class="architecture">${stageHtml('architecture')}</div>
      <p class="hint" data-t="block.twoStacks.more"></p>`;
  }

  protected override ready(): void {
    this.#stage = plotStages(this, ['architecture']).architecture;
  }

  update({ look }: View): void {
    if (!this.changed(look)) return;
    const words = {
      titles: [t('block.twoStacks.encoder'), t('block.twoStacks.decoder')] as const,
      encoder: [
        t('block.twoStacks.source'),
        t('block.twoStacks.self'),
        t('block.twoStacks.forward'),
      ],
      decoder: [
        t('block.twoStacks.target'),
        t('block.twoStacks.causal'),
        t('block.twoStacks.cross'),
        t('block.twoStacks.forward'),
        t('block.twoStacks.next'),
      ],
      queries: t('block.twoStacks.queries'),
      memory: t('block.twoStacks.memory'),
    };
    this.#stage?.show({
      height: ARCHITECTURE_HEIGHT,
      label: t('block.twoStacks.picture'),
      draw: (width) => drawArchitecture(pagePen, width, words),
    });
  }
}

customElements.define('qkv-block-architecture', ArchitecturePart);
