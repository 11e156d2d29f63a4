import '../../ui/plot.css';
import './style.css';
import type { Figure } from '../../ui/export_figure';
import { CompositePanel, type Panel, type View } from '../panel';
import { t } from './feature';
import { CapacityPart } from './page/capacity_part';
import { boundsFigure } from './page/figure';
import { StabilityPart } from './page/stability_part';
import { boundsRowsOf } from './state';

/** What can be proved about heads, beside what is measured: their capacity, and their stability. */
class BoundsPanel extends CompositePanel {
  parts: readonly Panel[] = [];

  protected template(): string {
    return `
      <p class="placeholder" role="status"></p>
      <div class="card"><qkv-bounds-capacity></qkv-bounds-capacity></div>
      <div class="card"><qkv-bounds-stability></qkv-bounds-stability></div>`;
  }

  protected override ready(): void {
    this.parts = [
      this.find('qkv-bounds-capacity', CapacityPart),
      this.find('qkv-bounds-stability', StabilityPart),
    ];
  }

  #shown = false;

  override update(view: View): void {
    super.update(view);
    this.#shown ||= Boolean(view.frame?.bounds);
    this.find('.placeholder', HTMLElement).hidden = this.#shown;
    const failed = view.engine.kind === 'failed';
    this.setText('.placeholder', t(failed ? 'map.failed' : 'plots.loading'));
  }

  override figure({ state, frame }: View): Promise<Figure | null> {
    const result = frame?.bounds ?? null;
    return Promise.resolve(result && boundsFigure(result, boundsRowsOf(state)));
  }
}

customElements.define('qkv-panel-bounds', BoundsPanel);
