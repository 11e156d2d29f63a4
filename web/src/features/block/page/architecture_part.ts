import '../../../ui/plot.css';
import { html, type TemplateResult } from 'lit-html';
import { stage } from '../../../ui/lit/plots';
import { pagePen } from '../../../ui/plot';
import { LitPanel } from '../../lit_panel';
import type { View } from '../../panel';
import { t } from '../feature';
import { ARCHITECTURE_HEIGHT, drawArchitecture, type ArchitectureWords } from './architecture_plot';

/** An encoder and a decoder, drawn: where cross-attention stands, and what it reads. */
export class ArchitecturePart extends LitPanel {
  protected inputs({ look }: View): readonly unknown[] {
    return [look];
  }

  protected render(): TemplateResult {
    const words = wordsOf();
    const drawing = stage('architecture', {
      height: ARCHITECTURE_HEIGHT,
      label: t('block.twoStacks.picture'),
      draw: (width) => drawArchitecture(pagePen, width, words),
    });
    return html`
      <h3>${t('block.twoStacks.title')}</h3>
      <p>${t('block.twoStacks.intro')}</p>
      <div class="architecture">${drawing}</div>
      <p class="hint">${t('block.twoStacks.more')}</p>`;
  }
}

const wordsOf = (): ArchitectureWords => ({
  titles: [t('block.twoStacks.encoder'), t('block.twoStacks.decoder')],
  encoder: [t('block.twoStacks.source'), t('block.twoStacks.self'), t('block.twoStacks.forward')],
  decoder: [
    t('block.twoStacks.target'),
    t('block.twoStacks.causal'),
    t('block.twoStacks.cross'),
    t('block.twoStacks.forward'),
    t('block.twoStacks.next'),
  ],
  queries: t('block.twoStacks.queries'),
  memory: t('block.twoStacks.memory'),
});

customElements.define('qkv-block-architecture', ArchitecturePart);
