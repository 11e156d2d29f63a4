import { find } from '../../../ui/dom';
import { MatrixView } from '../../../ui/matrix/view';
import { digits } from '../../../ui/numbers';
import type { View } from '../../panel';
import { pagePen } from '../../../ui/plot';
import { keyEntryHtml, plotStages, type PlotStage } from '../../../ui/plot_stage';
import { reasonOf } from '../../../ui/reason';
import { Answers, rightText, writingNodes } from './answers';
import { CURVE_HEIGHT, drawCurves } from './curves';
import { drawScores, SCORE_MARKS, SCORES_HEIGHT } from './score_curves';
import { SCORES_OF } from '../shared/head_scores';
import { answers, RunGuess } from './run_guess';
import { SERIES } from './experiments';
import { canOpen, LargeMap, MapGrid, MOST_HEADS, probeOf } from './head_maps';
import { drawNoise, NOISE_HEIGHT } from './noise_chart';
import type { Snapshot } from '../shared/protocol';
import type { RunRecord } from './run_record';
import { taskCalled } from './settings_of_state';
import type { Settings } from '../shared/run_settings';
import { show } from './controls';
import { t } from '../feature';
import {
  beginningOf,
  birthsOf,
  comparison,
  lookedAt,
  percent,
  scoresStory,
  statusOf,
  tuningStory,
} from './status_texts';
import type { Training } from './training_client';

/** What removes the runs that are kept, by their number less one. */
const FORGETS = ['learn.do.forget', 'learn.do.forgetTwo', 'learn.do.forgetThree'] as const;

export interface Scene {
  readonly view: View;
  readonly settings: Settings;
  readonly training: Training;
}

interface Hands {
  /** A map was pressed: 8 times its layer plus its head. */
  choose(map: number): void;
  /** Something else than state or training has changed. */
  redraw(): void;
}

/** Everything that is seen of the panel. It keeps nothing but what was drawn. */
export class PanelView {
  readonly #root: HTMLElement;
  readonly #grid: MapGrid;
  readonly #gridA: MapGrid;
  readonly #matrix: MatrixView;
  readonly #large: LargeMap;
  readonly #answers: Answers;
  readonly #guess: RunGuess;
  readonly #plots: Readonly<Record<'accuracy' | 'loss' | 'scores' | 'noise', PlotStage>>;
  readonly #written = new Map<string, string>();

  constructor(root: HTMLElement, hands: Hands) {
    this.#root = root;
    this.#grid = new MapGrid(this.#part('.learn-maps'), (layer, head) =>
      hands.choose(MOST_HEADS * layer + head),
    );
    this.#gridA = new MapGrid(this.#part('.learn-maps-a'), null);
    this.#matrix = find(root, 'qkv-matrix', MatrixView);
    this.#large = new LargeMap(this.#matrix);
    this.#matrix.addEventListener('cell-shown', () => hands.redraw());
    this.#answers = new Answers(this.#part('.learn-tokens'));
    this.#guess = new RunGuess(this.#part('.learn-guess'), () => hands.redraw());
    this.#plots = plotStages(root, ['accuracy', 'loss', 'scores', 'noise']);
  }

  #part(selector: string): HTMLElement {
    return find(this.#root, selector, HTMLElement);
  }

  #text(selector: string, text: string): void {
    if (this.#written.get(selector) === text) return;
    this.#written.set(selector, text);
    this.#part(selector).textContent = text; // some of it was typed, or is an engine's message
  }

  draw(scene: Scene): void {
    const { view, settings, training } = scene;
    const { current, playing } = training;
    const isOurs = training.isOf(settings);
    const { language } = view.state;
    show(this.#part('.learn-run'), settings, view.state);
    this.#ownText(scene);
    this.#text('.learn-task', t(`learn.story.${settings.task}`));
    this.#guess.draw(settings, runsOf(training, settings), language);
    this.#transport(scene, isOurs);
    this.#status(training, isOurs);
    this.#curves(training, settings);
    this.#scrubber(training);
    const record = current ?? null;
    const snapshot = record ? shownOf(record, training.looked) : null;
    const seen = record?.settings ?? settings;
    this.#maps(scene, { record, snapshot, seen });
    const [right, asked] = this.#answers.draw(seen, snapshot, language);
    this.#text(
      '.learn-right',
      snapshot ? t('learn.right', { right, asked }) : t('learn.rightNone'),
    );
    this.#writing(record);
    this.#experiment(scene);
    this.#part('.learn-card').toggleAttribute('data-playing', playing);
  }

  #ownText({ view, settings }: Scene): void {
    const area = find(this.#root, '[name=text]', HTMLTextAreaElement);
    this.#part('.learn-text').hidden = settings.task !== 'characters';
    if (area !== document.activeElement && area.value !== settings.text) area.value = settings.text;
    find(this.#root, '[name=compare]', HTMLInputElement).checked = view.state.learnCompare;
  }

  #transport({ view, training }: Scene, isOurs: boolean): void {
    const { playing, current, kept, queued } = training;
    const begun = isOurs && current !== null && current.step > 0;
    this.#text(
      '[data-do=play]',
      t(playing ? 'learn.do.pause' : begun ? 'learn.do.go' : 'learn.do.play'),
    );
    this.#part('[data-do=forget]').hidden = kept.length === 0;
    this.#text('[data-do=forget]', t(FORGETS[kept.length - 1] ?? FORGETS[0]));
    this.#part('[data-do=open]').hidden =
      playing || current === null || current.step === 0 || !canOpen(current.settings);
    this.#part('[data-do=live]').hidden = training.looked === null;
    const series = view.state.learnExperiment === 'names' ? 'learn.do.layers' : 'learn.do.heads';
    this.#text('[data-do=heads]', t(queued > 0 ? 'learn.do.headsOn' : series));
  }

  #status({ current, failure, inSeries }: Training, isOurs: boolean): void {
    if (failure) this.#text('.learn-status', t('learn.failed', { reason: reasonOf(failure) }));
    else if (!current) this.#text('.learn-status', t('learn.idle'));
    else if (current.judged.length === 0) this.#text('.learn-status', t('learn.starting'));
    else this.#text('.learn-status', current.step === 0 ? beginningOf(current) : statusOf(current));
    this.#text('.learn-note', current && !isOurs && !inSeries ? t('learn.changed') : '');
  }

  // ---- curves ----

  #curves(training: Training, settings: Settings): void {
    const { current, kept, looked } = training;
    for (const measure of ['accuracy', 'loss'] as const) {
      const input = { measure, current, kept, looked, steps: stepsOf(training, settings) };
      const label = t(`learn.figure.${measure}`, {
        step: current?.step ?? 0,
        value: digits(current?.lastJudged?.[measure] ?? 0, 3),
      });
      const draw = (width: number) => drawCurves(pagePen, width, input);
      this.#plots[measure].show({ height: CURVE_HEIGHT, label, draw });
    }
    this.#text('.learn-difference', comparison(training));
    this.#text('.learn-tuned', tuningStory(current));
    this.#scores(training, settings);
  }

  #scores(training: Training, settings: Settings): void {
    const { current: record, looked } = training;
    const input = { record, looked, steps: stepsOf(training, settings) };
    const seen = record?.settings ?? settings;
    const ids = SCORES_OF[seen.task];
    const named = ids.map((id) => t(`learn.score.${id}`));
    const values = named.map((name, i) => `${name} ${digits(record?.lastJudged?.best[i] ?? 0, 2)}`);
    this.#plots.scores.show({
      height: SCORES_HEIGHT,
      label: t('learn.figure.scores', { values: values.join(t('page.comma')) }),
      draw: (width) => drawScores(pagePen, width, input),
    });
    const key = named.map((name, i) => keyEntryHtml(`plot-${SCORE_MARKS[i]}`, name)).join('');
    if (this.#written.get('score-key') === key) return;
    this.#written.set('score-key', key);
    this.#part('.learn-score-key').innerHTML = key;
  }

  #scrubber({ current, looked }: Training): void {
    const scrub = find(this.#root, '[name=scrub]', HTMLInputElement);
    const last = current?.step ?? 0;
    const step = looked ?? last;
    scrub.disabled = last === 0;
    if (scrub.max !== String(last)) scrub.max = String(last);
    if (scrub.value !== String(step)) scrub.value = String(step);
    const maps = current ? shownOf(current, looked) : null;
    const told = current ? lookedAt(current, looked, maps?.step) : '';
    scrub.setAttribute('aria-valuetext', told || '0');
    this.#text('.learn-looked span', told);
  }

  // ---- maps ----

  #maps(
    { view, training }: Scene,
    {
      record,
      snapshot,
      seen,
    }: { record: RunRecord | null; snapshot: Snapshot | null; seen: Settings },
  ): void {
    const { language, learnMap } = view.state;
    const chosen = learnMap !== null && isHead(seen, learnMap) ? learnMap : null;
    this.#grid.draw(seen, snapshot, chosen, language);
    const a = training.kept.at(-1);
    this.#part('.learn-a').hidden = !a?.shown;
    if (a?.shown) {
      this.#gridA.draw(a.settings, a.shown, null, language);
      this.#text('.learn-a-title', t('learn.mapsA', { step: a.shown.step }));
    }
    this.#text('.learn-even', scoresStory(seen));
    const births = record ? birthsOf(record) : [];
    if (this.#written.get('births') !== births.join('\n')) {
      this.#written.set('births', births.join('\n'));
      this.#part('.learn-births').replaceChildren(...births.map(item));
    }
    const large = this.#part('.learn-large');
    large.hidden = chosen === null || !snapshot;
    if (chosen === null || !record || !snapshot) return;
    this.#large.draw(record, snapshot, chosen, view.look);
    const name = { layer: Math.floor(chosen / MOST_HEADS) + 1, head: (chosen % MOST_HEADS) + 1 };
    this.#text('.learn-large-title', t('learn.mapName', name));
    const cell = this.#matrix.shown;
    const { words } = probeOf(seen);
    this.#text('.learn-cell', cell ? this.#large.describe(words, cell.row, cell.col) : '');
  }

  // ---- words ----

  #writing(record: RunRecord | null): void {
    const writing = record?.writing ?? null;
    this.#part('.learn-writing').hidden = writing === null;
    if (!record || !writing) return;
    const { settings } = record;
    const key = `${writing.written.join()} ${writing.given.join()}`;
    if (this.#written.get('writing') !== key) {
      this.#written.set('writing', key);
      this.#part('.learn-written').replaceChildren(...writingNodes(settings, writing));
    }
    this.#text('.learn-should', t('learn.should', { right: rightText(settings, writing) }));
    const values = {
      step: writing.step,
      rows: writing.rows,
      free: percent(writing.accuracy),
      taught: percent(record.accuracy.at(-1) ?? 0),
      loss: digits(record.loss.at(-1) ?? NaN, 3),
    };
    const key2 = !settings.causal ? 'learn.leak' : 'learn.free';
    this.#text('.learn-free', record.step === 0 ? '' : t(key2, values));
  }

  #experiment({ view, training }: Scene): void {
    const { learnExperiment } = view.state;
    const story = learnExperiment ? t(`learn.experiment.${learnExperiment}`) : '';
    this.#text('.learn-experiment', story);
    this.#part('[data-do=heads]').hidden = !(learnExperiment && learnExperiment in SERIES);
    this.#part('.learn-noise').hidden = learnExperiment !== 'noise';
    this.#part('.learn-run').hidden = learnExperiment === 'noise';
    const { noise, noiseRuns } = training;
    this.#text('[data-do=noise]', t(noiseRuns ? 'learn.noise.runs' : 'learn.do.noise'));
    if (learnExperiment !== 'noise' || !noise) return;
    this.#plots.noise.show({
      height: NOISE_HEIGHT,
      label: t('learn.noise.axis'),
      draw: (width) => drawNoise(pagePen, width, noise),
    });
    const told = {
      step: noise.step,
      learned: digits(noise.errors.learned, 3),
      optimal: digits(noise.errors.optimal, 3),
      mean: digits(noise.errors.mean, 3),
    };
    this.#text('.learn-noise-told', t('learn.noise.told', told));
  }
}

/** The runs that answer the question before these settings. */
function runsOf(training: Training, settings: Settings): RunRecord[] {
  const { current, kept } = training;
  const all = [...kept, ...(current ? [current] : [])];
  return all.filter((run) => answers(run.settings, settings));
}

/** What a run shows: its latest maps, or those of the step that is looked at. */
export const shownOf = (record: RunRecord, looked: number | null): Snapshot | null =>
  looked === null ? record.latest : (record.shown ?? record.latest);

const isHead = ({ layers, heads }: Settings, map: number) =>
  Math.floor(map / MOST_HEADS) < layers && map % MOST_HEADS < heads;

function item(text: string): HTMLLIElement {
  const made = document.createElement('li');
  made.textContent = text;
  return made;
}

/** The axis holds at least what a run of this task takes, so that it does not move all the time. */
export function stepsOf({ current, kept }: Training, settings: Settings): number {
  const all = [...kept, ...(current ? [current] : [{ step: 0, settings }])];
  return Math.max(
    ...all.map((run) => {
      const { task, text } = run.settings;
      return Math.max(taskCalled(task, text).defaults.budget, run.step);
    }),
  );
}
