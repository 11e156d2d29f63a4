import { find } from '../dom';
import { NUM_HEADS } from '../engine/model';
import type { Frame } from '../engine/protocol';
import { t } from '../i18n';
import { cividis } from '../matrix/colour';
import { paintCells, sizeCanvas } from '../matrix/paint';
import { digits, headEntropy } from '../numbers';
import { weightCells } from '../scale';
import { Panel, type View } from './panel';

/** All heads as small maps; a group of radio buttons chooses the one that is enlarged. */
export class HeadsPanel extends Panel {
  #last: View | null = null;
  /** Of a picture, in CSS pixels. */
  #side = 0;
  readonly #resize = new ResizeObserver(() => {
    this.#side = this.find('.face', HTMLElement).clientWidth - 8;
    if (this.#last) this.#paint(this.#last);
  });

  protected template(): string {
    const heads = Array.from(
      { length: NUM_HEADS },
      (_, head) => `
        <label class="head">
          <input type="radio" name="head" value="${head}">
          <span class="face">
            <canvas aria-hidden="true"></canvas>
            <span class="head-name"></span>
            <span class="head-entropy"></span>
            <span class="meter" aria-hidden="true"><span></span></span>
          </span>
        </label>`,
    );
    return `
      <h3 id="heads-title" data-t="heads.title"></h3>
      <div class="heads" role="radiogroup" aria-labelledby="heads-title">${heads.join('')}</div>
      <p class="caption" id="heads-caption"></p>`;
  }

  protected override ready(): void {
    this.addEventListener('change', (event) => {
      if (event.target instanceof HTMLInputElement) this.change({ head: +event.target.value });
    });
    this.#resize.observe(this);
  }

  update(view: View): void {
    this.#last = view;
    if (!this.changed(view.frame?.weights, view.state.head, view.state.scale, view.look)) return;
    const frame = view.frame && view.frame.request.tokens.length > 0 ? view.frame : null;
    this.querySelectorAll('.head').forEach((label, head) => {
      find(label, 'input', HTMLInputElement).checked = head === view.state.head;
      find(label, '.head-name', HTMLElement).textContent = t('heads.name', { head: head + 1 });
      const { mean, most } = frame ? headEntropy(frame, head) : { mean: 0, most: 0 };
      const entropy = frame ? t('heads.entropy', { entropy: digits(mean, 3) }) : '';
      find(label, '.head-entropy', HTMLElement).textContent = entropy;
      const share = most > 0 ? mean / most : 0;
      find(label, '.meter span', HTMLElement).style.width = `${share * 100}%`;
    });
    const most = frame ? digits(headEntropy(frame, 0).most, 3) : '';
    this.setText('#heads-caption', frame ? t('heads.caption', { most }) : '');
    this.#paint(view);
  }

  #paint({ frame, state }: View): void {
    const canvases = this.querySelectorAll('canvas');
    canvases.forEach((canvas, head) => {
      if (this.#side <= 0) return;
      sizeCanvas(canvas, this.#side, this.#side);
      if (frame && frame.request.tokens.length > 0) paintHead(canvas, frame, head, state.scale);
      else canvas.getContext('2d')?.clearRect(0, 0, canvas.width, canvas.height);
    });
  }
}

function paintHead(
  canvas: HTMLCanvasElement,
  frame: Frame,
  head: number,
  scale: View['state']['scale'],
): void {
  const count = frame.request.tokens.length;
  const cells = weightCells(frame, head, scale);
  paintCells(canvas, { rows: count, cols: count, cells, ramp: cividis });
}

customElements.define('qkv-heads', HeadsPanel);
