import { PaintedMatrix } from '../../../ui/matrix/painted_matrix';
import { find } from '../../../ui/dom';
import { MatrixView, type MatrixModel } from '../../../ui/matrix/view';
import { digits } from '../../../ui/numbers';
import { paintMap } from './paint_map';
import type { Snapshot } from '../shared/protocol';
import type { RunRecord } from './run_record';
import { taskCalled } from './settings_of_state';
import { BORN, SCORES_OF, type ScoreId } from '../shared/head_scores';
import type { Settings } from '../shared/run_settings';
import type { Row, Task } from '../shared/task_type';
import { probe } from '../shared/tasks';
import { t } from '../feature';

/** Heads of a layer in the state: layer and head as one number. */
export const MOST_HEADS = 8;

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

/** A grid of maps, layers below each other and heads side by side. Each is a button that enlarges it. */
export class MapGrid {
  readonly #root: HTMLElement;
  readonly #choose: ((layer: number, head: number) => void) | null;
  #made = '';

  constructor(root: HTMLElement, choose: ((layer: number, head: number) => void) | null) {
    this.#root = root;
    this.#choose = choose;
    root.addEventListener('click', ({ target }) => {
      const button = target instanceof Element ? target.closest('button') : null;
      const { layer, head } = button?.dataset ?? {};
      if (layer !== undefined && head !== undefined) choose?.(Number(layer), Number(head));
    });
  }

  #make({ layers, heads, task }: Settings, language: string): void {
    const made = `${layers} ${heads} ${task} ${language}`;
    if (made === this.#made) return;
    this.#made = made;
    const element = this.#choose ? 'button type="button"' : 'div';
    const one = (layer: number, head: number) => `
      <${element} class="learn-map" data-layer="${layer}" data-head="${head}">
        <canvas aria-hidden="true"></canvas>
        <span class="visually-hidden">${t('learn.mapName', { layer: layer + 1, head: head + 1 })}</span>
        <span class="learn-scores">${SCORES_OF[task].map(() => '<span></span>').join('')}</span>
      </${element.split(' ')[0]}>`;
    const rows = Array.from({ length: layers }, (_, layer) => {
      const maps = Array.from({ length: heads }, (_each, head) => one(layer, head));
      return `<div class="learn-layer"><span class="learn-layer-name">${t('learn.layer', { layer: layer + 1 })}</span>
        <div class="learn-heads" data-heads="${heads}">${maps.join('')}</div></div>`;
    });
    this.#root.innerHTML = rows.join('');
  }

  draw(
    settings: Settings,
    snapshot: Snapshot | null,
    chosen: number | null,
    language: string,
  ): void {
    this.#make(settings, language);
    const side = probeOf(settings).row.ids.length;
    this.#root.querySelectorAll<HTMLElement>('.learn-map').forEach((element, index) => {
      const [layer, head] = [Math.floor(index / settings.heads), index % settings.heads];
      const canvas = find(element, 'canvas', HTMLCanvasElement);
      if (this.#choose) {
        element.setAttribute('aria-pressed', String(chosen === layer * MOST_HEADS + head));
      }
      if (!snapshot) return;
      paintMap(canvas, snapshot.weights, index * side * side, side);
      const scores = scoresAt(snapshot, settings, index);
      element.querySelectorAll('.learn-scores span').forEach((place, i) => {
        const { id, value } = scores[i]!;
        place.textContent = `${t(`learn.short.${id}`)} ${value.toFixed(2)}`;
        place.classList.toggle('born', value > BORN);
      });
    });
  }
}

/** One map with the tokens of the probe on both sides. */
export class LargeMap {
  readonly #matrix: PaintedMatrix;
  #weights: Float32Array = new Float32Array();
  #side = 0;

  constructor(matrix: MatrixView) {
    this.#matrix = new PaintedMatrix(matrix);
  }

  draw(record: RunRecord, snapshot: Snapshot, chosen: number, look: number): void {
    const { settings } = record;
    const { row, words } = probeOf(settings);
    const [layer, head] = [Math.floor(chosen / MOST_HEADS), chosen % MOST_HEADS];
    const side = row.ids.length;
    const offset = (layer * settings.heads + head) * side * side;
    this.#weights = snapshot.weights.subarray(offset, offset + side * side);
    this.#side = side;
    const name = t('learn.mapName', { layer: layer + 1, head: head + 1 });
    this.#matrix.show(this.#model(words, name, look), (cells) =>
      paintMap(cells, this.#weights, 0, side),
    );
  }

  #model(words: readonly string[], name: string, look: number): MatrixModel {
    return {
      ...{ rows: words.length, cols: words.length, rowLabels: words, colLabels: words },
      ...{ rowHeight: 'square', look, name, bracket: null },
      home: { row: words.length - 1, col: 0 },
      describe: ({ row, col }) => this.describe(words, row, col),
    };
  }

  /** One weight in words. */
  describe(words: readonly string[], row: number, col: number): string {
    const weight = digits(this.#weights[row * this.#side + col] ?? NaN, 4);
    return t('learn.cell', { row, query: words[row] ?? '', col, key: words[col] ?? '', weight });
  }
}
