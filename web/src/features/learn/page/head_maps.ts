import { html, noChange, nothing, type ElementPart, type TemplateResult } from 'lit-html';
import { Directive, directive } from 'lit-html/directive.js';
import { keyed } from 'lit-html/directives/keyed.js';
import type { Cell } from '../../../ui/matrix/cell';
import { PaintedMatrix } from '../../../ui/matrix/painted_matrix';
import { find, setText } from '../../../ui/dom';
import type { Content } from '../../../ui/lit/texts';
import { MatrixView, type MatrixModel } from '../../../ui/matrix/view';
import { digits } from '../../../ui/numbers';
import { paintMap } from './paint_map';
import type { Snapshot } from '../shared/protocol';
import { taskCalled } from './settings_of_state';
import { BORN, SCORES_OF, type ScoreId } from '../shared/head_scores';
import type { Settings } from '../shared/run_settings';
import type { Row, Task } from '../shared/task_type';
import { probe } from '../shared/tasks';
import { t } from '../feature';

/** Heads of a layer in the state: layer and head as one number. */
const MOST_HEADS = 8;

const placeOf = (map: number) => [Math.floor(map / MOST_HEADS), map % MOST_HEADS] as const;

/** What the map of such a number is called. */
export function mapName(map: number): string {
  const [layer, head] = placeOf(map);
  return t('learn.mapName', { layer: layer + 1, head: head + 1 });
}

export function isHead({ layers, heads }: Settings, map: number): boolean {
  const [layer, head] = placeOf(map);
  return layer < layers && head < heads;
}

const probes = new WeakMap<Task, { row: Row; words: readonly string[] }>();

/** The probe of a task and its tokens as they are written; the same arrays every time, so that labels are drawn once. */
export function probeOf(settings: Settings): { row: Row; words: readonly string[] } {
  const task = taskCalled(settings.task, settings.text);
  const known = probes.get(task);
  if (known) return known;
  const row = probe(task);
  const made = { row, words: row.ids.map((id) => task.words[id] ?? '') };
  probes.set(task, made);
  return made;
}

/** The probe as a text that a model of these tokens reads. */
export function probeText({ task: id, text }: Settings): string {
  const task = taskCalled(id, text);
  const { words, texts = words } = task;
  return probe(task)
    .ids.map((token) => texts[token] ?? '')
    .join('')
    .trimStart();
}

/** Whether the panel of trained models can show what comes of these settings: it predicts the next token, and all are words. */
export function canOpen({ task: id, text, causal }: Settings): boolean {
  const { words, vocabulary } = taskCalled(id, text);
  return causal && words.length === vocabulary;
}

/** Scores of one head, with their names. */
export function scoresAt(
  { scores }: Snapshot,
  { task, layers, heads }: Settings,
  index: number,
): { id: ScoreId; value: number }[] {
  return SCORES_OF[task].map((id, i) => ({ id, value: scores[i * layers * heads + index]! }));
}

class Painted extends Directive {
  #weights: Float32Array | null = null;
  render(_weights: Float32Array | null, _offset: number, _side: number): typeof noChange {
    return noChange;
  }
  override update(
    { element }: ElementPart,
    [weights, offset, side]: Parameters<Painted['render']>,
  ): typeof noChange {
    if (weights && weights !== this.#weights) {
      paintMap(element as HTMLCanvasElement, weights, offset, side);
      this.#weights = weights;
    }
    return noChange;
  }
}
/** In the tag of a canvas: the map of a head, which stays until there are other weights. */
const painted = directive(Painted);

/** A score below a map, which stays until there is another one. */
function scoreOf(id: ScoreId, value: number | undefined): TemplateResult {
  const isKnown = value !== undefined;
  const mark = isKnown && value > BORN ? 'born' : nothing;
  const words = isKnown ? `${t(`learn.short.${id}`)} ${value.toFixed(2)}` : noChange;
  return html`<span class=${isKnown ? mark : noChange}>${words}</span>`;
}

interface Choice {
  /** 8 times the layer plus the head. */
  readonly chosen: number | null;
  readonly choose: (map: number) => void;
}

/** The map of a head and its scores: with a choice a button that enlarges it. */
function mapOf(
  settings: Settings,
  snapshot: Snapshot | null,
  [layer, head]: readonly [number, number],
  choice: Choice | null,
): TemplateResult {
  const index = layer * settings.heads + head;
  const number = layer * MOST_HEADS + head;
  const side = probeOf(settings).row.ids.length;
  const scores = snapshot && scoresAt(snapshot, settings, index);
  const map = html`
    <canvas aria-hidden="true" ${painted(snapshot?.weights ?? null, index * side * side, side)}></canvas>
    <span class="visually-hidden">${mapName(number)}</span>
    <span class="learn-scores">${SCORES_OF[settings.task].map((id, i) => scoreOf(id, scores?.[i]?.value))}</span>`;
  if (!choice) {
    return html`<div class="learn-map" data-layer=${layer} data-head=${head}>${map}</div>`;
  }
  return html`<button type="button" class="learn-map" data-layer=${layer} data-head=${head}
    aria-pressed=${choice.chosen === number} @click=${() => choice.choose(number)}>${map}</button>`;
}

/** A grid of maps, layers below each other and heads side by side. Those of another grid have other canvases. */
export function mapGrid(
  settings: Settings,
  snapshot: Snapshot | null,
  choice: Choice | null = null,
): Content {
  const { layers, heads, task } = settings;
  const layerOf = (layer: number) => html`
    <div class="learn-layer"><span class="learn-layer-name">${t('learn.layer', { layer: layer + 1 })}</span>
      <div class="learn-heads" data-heads=${heads}>${Array.from({ length: heads }, (_, head) =>
        mapOf(settings, snapshot, [layer, head], choice),
      )}</div></div>`;
  const all = Array.from({ length: layers }, (_, layer) => layerOf(layer));
  return keyed(`${layers} ${heads} ${task}`, all);
}

/** One map with the tokens of the probe on both sides, and the weight under its crosshair in words. */
export class LargeMap {
  readonly #view: MatrixView;
  readonly #matrix: PaintedMatrix;
  readonly #cell: HTMLElement;

  constructor(root: HTMLElement) {
    this.#view = find(root, 'qkv-matrix', MatrixView);
    this.#matrix = new PaintedMatrix(this.#view);
    this.#cell = find(root, '.learn-cell', HTMLElement);
  }

  draw(settings: Settings, { weights }: Snapshot, chosen: number, look: number): void {
    const { words } = probeOf(settings);
    const [layer, head] = placeOf(chosen);
    const side = words.length;
    const offset = (layer * settings.heads + head) * side * side;
    const describe = ({ row, col }: Cell) =>
      t('learn.cell', {
        ...{ row, query: words[row] ?? '', col, key: words[col] ?? '' },
        weight: digits(weights[offset + row * side + col] ?? NaN, 4),
      });
    const model: MatrixModel = {
      ...{ rows: side, cols: side, rowLabels: words, colLabels: words, rowHeight: 'square' },
      ...{ name: mapName(chosen), look, bracket: null, describe },
      home: { row: side - 1, col: 0 },
    };
    this.#matrix.show(model, (cells) => paintMap(cells, weights, offset, side));
    const { shown } = this.#view;
    setText(this.#cell, shown ? describe(shown) : '');
  }
}
