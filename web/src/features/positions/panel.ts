import './style.css';
import type { Figure } from '../../ui/export_figure';
import { positionsFigure } from './page/figure';
import { CompositePanel, type Panel, type View } from '../panel';
import { DialsPart } from './page/dials_part';
import { DriftPart } from './page/drift_part';
import { EncodingPart } from './page/encoding_part';
import { RotaryPart } from './page/rotary_part';
import { RotationPart } from './page/rotation_part';
import { SchemePart } from './page/scheme_part';
import { ShiftPart } from './page/shift_part';

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
    const encoding = this.find('qkv-encoding', EncodingPart).matrix;
    const scheme = this.find('qkv-scheme', SchemePart).matrix;
    return Promise.resolve(
      frame?.positions ? positionsFigure(frame.positions, encoding.canvas, scheme.canvas) : null,
    );
  }
}

customElements.define('qkv-panel-positions', PositionsPanel);
