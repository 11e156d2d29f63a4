import { html, nothing, type TemplateResult } from 'lit-html';
import { context2d } from '../../../ui/dom';
import type { View } from '../../panel';
import { palette } from '../../../ui/matrix/palette';
import { percent } from '../../../ui/numbers';
import { labelOf } from '../shared/token_label';
import { bar, ModelPart } from './model_part';
import type { Near, Plane, Reading } from '../shared/protocol';
import { t } from '../feature';

const HEIGHT = 420;
const MARGIN = 24;
/** With more tokens only those of the text, the chosen one and its neighbours have names. */
const ALL_NAMED = 120;

/** What is shown of a text. */
interface Shown {
  readonly plane: Plane;
  readonly near: Near;
  readonly reading: Reading;
}

/** The learned vectors of tokens: a plane of two directions, and who is near whom. */
export class EmbeddingsPart extends ModelPart {
  /** The latest; it stays until all of the next one is there. */
  #shown: Shown | null = null;
  #isObserved = false;
  #width = 0;
  /** What the canvas shows. */
  #drawn: readonly unknown[] = [];
  readonly #resize = new ResizeObserver((entries) => {
    for (const { contentRect } of entries) this.#width = Math.floor(contentRect.width);
    this.refresh();
  });

  protected inputs({ model, look }: View): readonly unknown[] {
    const { plane, near, reading } = model.answers;
    if (plane && near && reading) this.#shown = { plane, near, reading };
    return [plane, near, reading, look];
  }

  protected render(): TemplateResult {
    const { plane, near } = this.#shown ?? {};
    const label = near && t('model.embeddings.label', { token: near.label });
    return html`
      <h3>${t('model.embeddings.title')}</h3>
      <p class="hint model-embeddings-intro">${plane && introOf(plane)}</p>
      <div class="lab model-plane">
        <div class="lab-main"><canvas role="img" aria-label=${label ?? nothing} @click=${(event: MouseEvent) => this.#choose(event)}></canvas></div>
        <div class="lab-side">
          <div class="control" data-control><label for="model-near">${t('model.embeddings.of')}</label>
            <input id="model-near" type="text" autocomplete="off" spellcheck="false" maxlength="8"
              @input=${this.#typed} @compositionend=${this.#typed}></div>
          <p class="model-near-title">${plane && near && t('model.embeddings.near', { token: near.label, width: plane.width })}</p>
          <ol class="model-near">${near?.tokens.map((token) => this.#neighbour(token))}</ol>
        </div>
      </div>`;
  }

  #neighbour({ id, label, cosine }: Near['tokens'][number]): TemplateResult {
    return html`<li><button type="button" class="button" data-token=${id} @click=${() => this.change({ modelNear: id })}><bdi>${label}</bdi></button>
      ${bar(Math.max(0, cosine), cosine.toFixed(3))}</li>`;
  }

  readonly #typed = (event: Event): void => {
    if (event instanceof InputEvent && event.isComposing) return;
    const { plane } = this.#shown ?? {};
    const text = (event.currentTarget as HTMLInputElement).value;
    if (!plane || text === '') return;
    // The whole text may be a token; else the last character, as somebody types one after another.
    const wanted = [text, ` ${text}`, Array.from(text).at(-1) ?? text].map(labelOf);
    const id = wanted.map((each) => plane.labels.indexOf(each)).find((at) => at >= 0);
    if (id !== undefined) this.change({ modelNear: id });
  };

  #choose({ offsetX, offsetY }: MouseEvent): void {
    const { plane } = this.#shown ?? {};
    if (!plane) return;
    const place = placesOf(plane, this.#width);
    let [best, least] = [-1, 32 ** 2];
    for (let id = 0; id < plane.labels.length; id++) {
      const { x, y } = place(id);
      const distance = (x - offsetX) ** 2 + (y - offsetY) ** 2;
      if (distance < least) [best, least] = [id, distance];
    }
    if (best >= 0) this.change({ modelNear: best });
  }

  protected override rendered({ look }: View): void {
    if (!this.#isObserved) this.#resize.observe(this.find('.lab-main', HTMLElement));
    this.#isObserved = true;
    const { plane, near, reading } = this.#shown ?? {};
    const wanted = [plane, near, reading, this.#width, look];
    if (wanted.every((each, i) => each === this.#drawn[i])) return;
    this.#drawn = wanted;
    if (this.#shown && this.#width > 0) this.#draw(this.#shown);
  }

  #draw({ plane, near, reading }: Shown): void {
    const canvas = this.find('canvas', HTMLCanvasElement);
    const width = this.#width;
    const ratio = devicePixelRatio;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(HEIGHT * ratio);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${HEIGHT}px`;
    const context = context2d(canvas);
    context.scale(ratio, ratio);
    drawPlane(context, plane, { width, near, inText: new Set(reading.ids) });
  }
}

function introOf({ width, labels, shares: [first, second] }: Plane): string {
  const shares = { first: percent(first), second: percent(second) };
  return t('model.embeddings.intro', { width, count: labels.length, ...shares });
}

/** Where tokens stand: both axes have one scale, so that distances are comparable. */
function placesOf({ points }: Plane, width: number, height = HEIGHT) {
  let [left, right, low, high] = [Infinity, -Infinity, Infinity, -Infinity];
  for (let at = 0; at < points.length; at += 2) {
    const [x, y] = [points[at]!, points[at + 1]!];
    [left, right] = [Math.min(left, x), Math.max(right, x)];
    [low, high] = [Math.min(low, y), Math.max(high, y)];
  }
  const room = Math.min(
    (width - 2 * MARGIN) / (right - left || 1),
    (height - 2 * MARGIN) / (high - low || 1),
  );
  const [middleX, middleY] = [(left + right) / 2, (low + high) / 2];
  return (id: number) => ({
    x: width / 2 + (points[2 * id]! - middleX) * room,
    y: height / 2 - (points[2 * id + 1]! - middleY) * room,
  });
}

function drawPlane(
  context: CanvasRenderingContext2D,
  plane: Plane,
  { width, near, inText }: { width: number; near: Near; inText: ReadonlySet<number> },
): void {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  const place = placesOf(plane, width);
  const { labels } = plane;
  const neighbours = new Set(near.tokens.map(({ id }) => id));
  const all = labels.length <= ALL_NAMED;
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  context.fillStyle = colour('--line-strong');
  const named = (id: number) => all || inText.has(id) || neighbours.has(id) || id === near.id;
  labels.forEach((_, id) => {
    const { x, y } = place(id);
    if (!named(id)) context.fillRect(x - 1, y - 1, 2, 2);
  });
  // Those that matter stand above the others; fonts and colours are set once for all that share them.
  const groups: readonly (readonly [colour: string, font: string, ids: number[]])[] = [
    ['--ink-soft', '13px', []],
    ['--q', '15px', []],
    ['--k', '15px', []],
    ['--k', '700 18px', []],
  ];
  const rank = (id: number) =>
    id === near.id ? 3 : neighbours.has(id) ? 2 : inText.has(id) ? 1 : 0;
  for (const id of labels.keys()) if (named(id)) groups[rank(id)]?.[2].push(id);
  context.lineWidth = 3;
  context.strokeStyle = colour('--surface');
  for (const [name, font, ids] of groups) {
    context.fillStyle = colour(name);
    context.font = `${font} ${palette().font}`;
    for (const id of ids) {
      const { x, y } = place(id);
      context.strokeText(labels[id] ?? '', x, y);
      context.fillText(labels[id] ?? '', x, y);
    }
  }
}
