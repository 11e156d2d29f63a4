import { html, nothing, type TemplateResult } from 'lit-html';
import { guard } from 'lit-html/directives/guard.js';
import { formatFragment } from '../../../state/state';
import { stage } from '../../../ui/lit/plots';
import { formula, rich } from '../../../ui/lit/texts';
import { digits } from '../../../ui/numbers';
import { pagePen } from '../../../ui/plot';
import { t } from '../feature';
import formulas from '../formulas.json';
import { LEVELS } from '../shared/noise_levels';
import type { NoiseNews, Snapshot, Writing } from '../shared/protocol';
import { EXPERIMENTS, type Experiment, type Settings } from '../shared/run_settings';
import { rightOf, rightText, tokensOf, writtenOf } from './answers';
import { barButton, setup } from './controls';
import { changesFor } from './experiments';
import { mapGrid, mapName } from './head_maps';
import { drawNoise, NOISE_HEIGHT } from './noise_chart';
import type { RunRecord } from './run_record';
import { runSide } from './run_side';
import { momentOf, type Moment, type Scene } from './scene';
import { birthsOf, percent, scoresStory } from './status_texts';

/** Everything that is seen of the panel. What follows from the state alone is not made again while a run trains. */
export function panelOf(scene: Scene): TemplateResult {
  const { state, look, training, said } = scene;
  const { learnExperiment } = state;
  const story = learnExperiment ? t(`learn.experiment.${learnExperiment}`) : '';
  return html`<div class="card learn-card" ?data-playing=${training.playing}>
    ${guard([state, look], () => links(scene))}
    <p class="learn-experiment">${story}</p>
    ${noisePart(scene)}
    ${runPart(scene)}
    <p class="visually-hidden" role="status" data-said>${said}</p>
  </div>`;
}

/** The experiments, and a run of the reader's own. */
function links({ state, change }: Scene): TemplateResult {
  const link = (experiment: Experiment | null) => {
    const changes = changesFor(experiment);
    const choose = (event: MouseEvent) => {
      // With a key held the browser opens it elsewhere.
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      change(changes);
    };
    const current = state.learnExperiment === experiment ? 'true' : nothing;
    return html`<li><a data-experiment=${experiment ?? ''} href=${formatFragment({ ...state, panel: 'learn', ...changes })}
      aria-current=${current} @click=${choose}>${t(`learn.experimentName.${experiment ?? 'own'}`)}</a></li>`;
  };
  return html`<nav aria-label=${t('learn.experiments')}><ul class="learn-links">${[null, ...EXPERIMENTS].map(link)}</ul></nav>`;
}

const BEST_WEIGHTS = formula(formulas.bestWeights);

function noisePart({ state, training }: Scene): TemplateResult {
  const { noise, noiseRuns } = training;
  const train = () => training.learnNoise(state.learnSeed);
  return html`<div class="learn-noise" ?hidden=${state.learnExperiment !== 'noise'}>
    <div class="row-formula formula">${BEST_WEIGHTS}</div>
    <p>${t('learn.noise.story')}</p>
    <p>${barButton('noise', t(noiseRuns ? 'learn.noise.runs' : 'learn.do.noise'), train)}</p>
    ${noise ? noiseStage(noise) : html`<div class="plot-stage" data-figure="noise"></div>`}
    <p class="learn-noise-errors">${noise ? noiseText(noise) : ''}</p>
  </div>`;
}

const noiseStage = (noise: NoiseNews) =>
  stage('noise', {
    height: NOISE_HEIGHT,
    label: t('learn.noise.picture', { weights: weightsOf(noise) }),
    draw: (width) => drawNoise(pagePen, width, noise),
  });

const weightsOf = ({ learned, optimal }: NoiseNews): string => {
  const number = (weight = NaN) => digits(weight, 3);
  return LEVELS.map(
    (sigma, i) => `σ = ${sigma}: ${number(learned[i])}, ${number(optimal[i])}`,
  ).join('; ');
};

const noiseText = ({ step, errors }: NoiseNews) =>
  t('learn.noise.errors', {
    step,
    learned: digits(errors.learned, 3),
    optimal: digits(errors.optimal, 3),
    mean: digits(errors.mean, 3),
  });

/** A run: what is set and pressed, its curves, and beside them the layers where it happens. */
function runPart(scene: Scene): TemplateResult {
  const { state, look, settings, training, guess, redraw } = scene;
  const { current, kept } = training;
  const runs = current ? [...kept, current] : kept;
  const moment = momentOf(scene);
  const { snapshot, chosen } = moment;
  return html`<div class="learn-run" ?hidden=${state.learnExperiment === 'noise'}>
    <div class="learn-live">
      ${guard([state, look], () => setup(scene))}
      <div class="learn-guess">${guess.render(settings, runs)}</div>
      ${runSide(scene)}
      ${pictures(scene, moment)}
    </div>
    <div class="learn-large" ?hidden=${chosen === null || !snapshot} @cell-shown=${redraw}>
      <h3 class="learn-large-title">${chosen === null ? '' : mapName(chosen)}</h3>
      <qkv-matrix></qkv-matrix>
      <p class="described learn-cell"></p>
    </div>
    ${probePart(moment)}
  </div>`;
}

function pictures({ state, training, change }: Scene, moment: Moment): TemplateResult {
  const { record, snapshot, seen, chosen } = moment;
  const a = training.kept.at(-1);
  const choose = (map: number) => change({ learnMap: state.learnMap === map ? null : map });
  const births = record ? birthsOf(record) : [];
  return html`<div class="learn-pictures">
    <h3>${t('learn.maps')}</h3>
    <div class="learn-maps">${mapGrid(seen, snapshot, { chosen, choose })}</div>
    <p class="hint">${rich('map.axes')}</p>
    <div class="learn-a" ?hidden=${!a?.shown}>${a?.shown && mapsOfA(a.settings, a.shown)}</div>
    <p class="learn-even hint">${scoresStory(seen)}</p>
    <ul class="learn-births">${births.map((text) => html`<li>${text}</li>`)}</ul>
  </div>`;
}

const mapsOfA = (settings: Settings, snapshot: Snapshot) => html`
  <h3 class="learn-a-title">${t('learn.mapsA', { step: snapshot.step })}</h3>
  <div class="learn-maps-a">${mapGrid(settings, snapshot)}</div>`;

/** The row that is shown, and what the model writes after its beginning. */
function probePart({ record, snapshot, seen }: Moment): TemplateResult {
  return html`<div class="learn-probe">
    <h3>${t('learn.probe')}</h3>
    <p class="hint learn-right">${snapshot ? t('learn.right', rightOf(seen, snapshot)) : t('learn.rightNone')}</p>
    <ol class="learn-tokens">${tokensOf(seen, snapshot)}</ol>
    <div class="learn-writing" ?hidden=${!record?.writing}>${record?.writing && writingOf(record, record.writing)}</div>
  </div>`;
}

function writingOf(
  { settings, step, accuracy, loss }: RunRecord,
  writing: Writing,
): TemplateResult {
  const values = {
    ...{ step: writing.step, rows: writing.rows, free: percent(writing.accuracy) },
    taught: percent(accuracy.at(-1) ?? 0),
    loss: digits(loss.at(-1) ?? NaN, 3),
  };
  const free = step === 0 ? '' : t(settings.causal ? 'learn.free' : 'learn.leak', values);
  return html`
    <h3>${t('learn.writes')}</h3>
    <p class="learn-written" translate="no">${writtenOf(settings, writing)}</p>
    <p class="learn-should hint">${t('learn.should', { right: rightText(settings, writing) })}</p>
    <p class="learn-free">${free}</p>`;
}
