import { context2d } from '../../../ui/dom';
import type { View } from '../../panel';
import { palette } from '../../../ui/matrix/palette';
import { percent } from '../../../ui/numbers';
import { labelOf } from '../shared/token_label';
import { ModelPart } from './model_part';
import type { Near, Plane } from '../shared/protocol';
import { t } from '../feature';

const HEIGHT = 420;
const MARGIN = 24;
/** With more tokens only those of the text, the chosen one and its neighbours have names. */
const ALL_NAMED = 120;

/** The learned vectors of tokens: a plane of two directions, and who is near whom. */
export class EmbeddingsPart extends ModelPart {
  #view: View | null = null;
  #width = 0;
  readonly #resize = new ResizeObserver((entries) => {
    for (const { contentRect } of entries) this.#width = Math.floor(contentRect.width);
    if (this.#view) this.update(this.#view);
  });

  protected template(): string {
    return `
      <h3 data-t="model.embeddings.title"></h3>
      <p class="hint model-embeddings-intro"></p>
      <div class="lab model-plane">
        <div class="lab-main"><canvas role="img"></canvas></div>
        <div class="lab-side">
          <div class="control" data-control><label for="model-near" data-t="model.embeddings.of"></label>
            <input id="model-near" type="text" autocomplete="off" spellcheck="false" maxlength="8"></div>
          <p class="model-near-title"></p>
          <ol class="model-near"></ol>
        </div>
      </div>`;
  }

  protected override ready(): void {
    const canvas = this.find('canvas', HTMLCanvasElement);
    this.#resize.observe(this.find('.lab-main', HTMLElement));
    canvas.addEventListener('click', (event) => this.#choose(event));
    const box = this.find('#model-near', HTMLInputElement);
    box.addEventListener('input', (event) => {
      if (event instanceof InputEvent && event.isComposing) return;
      this.#named(box.value);
    });
    box.addEventListener('compositionend', () => this.#named(box.value));
    this.find('.model-near', HTMLElement).addEventListener('click', (event) => {
      const button = event.target instanceof Element ? event.target.closest('button') : null;
      if (button) this.change({ modelNear: Number(button.dataset['token']) });
    });
  }

  get #plane(): Plane | null {
    return this.#view?.model.answers.plane ?? null;
  }

  #named(text: string): void {
    const plane = this.#plane;
    if (text === '') return;
    // The whole text may be a token; else the last character, as somebody types one after another.
    const [whole, word, last] = [text, ` ${text}`, Array.from(text).at(-1) ?? text].map(labelOf);
    const idOf = (wanted: string | undefined) =>
      plane?.labels.findIndex((label) => label === wanted) ?? -1;
    const id = [whole, word, last].map(idOf).find((each) => each >= 0) ?? -1;
    if (id >= 0) this.change({ modelNear: id });
  }

  #choose(event: MouseEvent): void {
    const plane = this.#plane;
    if (!plane) return;
    const place = placesOf(plane, this.#width);
    let [best, least] = [-1, 32 ** 2];
    for (let id = 0; id < plane.labels.length; id++) {
      const { x, y } = place(id);
      const distance = (x - event.offsetX) ** 2 + (y - event.offsetY) ** 2;
      if (distance < least) [best, least] = [id, distance];
    }
    if (best >= 0) this.change({ modelNear: best });
  }

  update(view: View): void {
    this.#view = view;
    const { model, state, look } = view;
    const { plane, near, reading } = model.answers;
    const card = this.closest<HTMLElement>('.model-card');
    if (card) card.hidden = plane === null;
    if (!plane || !near || !reading) return;
    if (!this.changed(plane, near, reading, this.#width, state.language, look)) return;
    const [first, second] = plane.shares;
    const values = {
      width: plane.width,
      count: plane.labels.length,
      first: percent(first),
      second: percent(second),
    };
    this.setText('.model-embeddings-intro', t('model.embeddings.intro', values));
    this.#draw(plane, near, new Set(reading.ids));
    this.#list(near, plane.width);
  }

  #draw(plane: Plane, near: Near, inText: ReadonlySet<number>): void {
    const canvas = this.find('canvas', HTMLCanvasElement);
    const width = this.#width;
    if (width === 0) return;
    const ratio = devicePixelRatio;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(HEIGHT * ratio);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${HEIGHT}px`;
    canvas.setAttribute('aria-label', t('model.embeddings.label', { token: near.label }));
    const context = context2d(canvas);
    context.scale(ratio, ratio);
    drawPlane(context, plane, { width, near, inText });
  }

  #list({ label, tokens }: Near, width: number): void {
    this.setText('.model-near-title', t('model.embeddings.near', { token: label, width }));
    const items = tokens.map(({ id, label: name, cosine }) => {
      const item = document.createElement('li');
      item.innerHTML = `<button type="button" class="button" data-token="${id}"><bdi></bdi></button>
        <span class="bar"><i></i></span><span class="value">${cosine.toFixed(3)}</span>`;
      const [bdi, bar] = [item.querySelector('bdi'), item.querySelector<HTMLElement>('.bar i')];
      if (bdi) bdi.textContent = name;
      if (bar) bar.style.width = `${100 * Math.max(0, cosine)}%`;
      return item;
    });
    this.find('.model-near', HTMLElement).replaceChildren(...items);
  }
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
