import './style.css';
import type { Figure } from '../../ui/export_figure';
import { CompositePanel, type Panel, type View } from '../panel';
import { BenchPart } from './page/bench_part';
import { CountsPart } from './page/counts_part';
import { costFigure } from './page/figure';
import { ShapePart } from './page/shape_part';

/** What a shape costs by its formulas, and what attention costs on this device. */
class CostPanel extends CompositePanel {
  parts: readonly Panel[] = [];

  protected template(): string {
    return `
      <div class="card">
        <qkv-cost-shape></qkv-cost-shape>
        <qkv-cost-counts></qkv-cost-counts>
      </div>
      <div class="card"><qkv-cost-bench></qkv-cost-bench></div>`;
  }

  protected override ready(): void {
    this.parts = [
      this.find('qkv-cost-shape', ShapePart),
      this.find('qkv-cost-counts', CountsPart),
      this.find('qkv-cost-bench', BenchPart),
    ];
  }

  override figure({ state }: View): Promise<Figure | null> {
    const { result } = this.find('qkv-cost-bench', BenchPart);
    return Promise.resolve(costFigure(state.costShape, result));
  }
}

customElements.define('qkv-panel-cost', CostPanel);
