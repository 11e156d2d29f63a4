import './style.css';
import type { Figure } from '../../ui/figure';
import { positionsFigure } from './figure';
import { CompositePanel, type Panel, type View } from '../../ui/panel';
import { DialsPart } from './dials';
import { DriftPart } from './drift';
import { EncodingPart } from './encoding';
import { RotaryPart } from './rotary';
import { RotationPart } from './rotation';
import { SchemePart } from './scheme';
import { ShiftPart } from './shift';

/** The encoding as a picture, its shift as a rotation, and the other ways to say where a token is. */
class PositionsPanel extends CompositePanel {
  parts: readonly Panel[] = [];

  protected template(): string {
    return `
      <div class="card encoding">
        <qkv-encoding></qkv-encoding>
        <qkv-shift></qkv-shift>
        <qkv-dials></qkv-dials>
        <qkv-rotation></qkv-rotation>
      </div>
      <div class="card"><qkv-drift></qkv-drift></div>
      <div class="card schemes"><qkv-scheme></qkv-scheme><qkv-rotary></qkv-rotary></div>`;
  }

  protected override ready(): void {
    this.parts = [
      this.find('qkv-encoding', EncodingPart),
      this.find('qkv-shift', ShiftPart),
      this.find('qkv-dials', DialsPart),
      this.find('qkv-rotation', RotationPart),
      this.find('qkv-drift', DriftPart),
      this.find('qkv-scheme', SchemePart),
      this.find('qkv-rotary', RotaryPart),
    ];
  }

  override figure({ frame }: View): Promise<Figure | null> {
    const { canvas } = this.find('qkv-encoding', EncodingPart).matrix;
    const scheme = this.find('qkv-scheme', SchemePart).matrix;
    return Promise.resolve(
      frame?.positions ? positionsFigure(frame.positions, canvas, scheme.canvas) : null,
    );
  }
}

customElements.define('qkv-panel-positions', PositionsPanel);
