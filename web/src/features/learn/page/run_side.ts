import { html, type TemplateResult } from 'lit-html';
import { guard } from 'lit-html/directives/guard.js';
import { live } from 'lit-html/directives/live.js';
import { withChecked, withValue } from '../../../ui/lit/controls';
import { keyEntry, stage } from '../../../ui/lit/plots';
import { digits } from '../../../ui/numbers';
import { pagePen } from '../../../ui/plot';
import { reasonOf } from '../../../ui/reason';
import { t } from '../feature';
import { SCORES_OF } from '../shared/head_scores';
import { barButton, tuningControls } from './controls';
import { CURVE_HEIGHT, drawCurves, stepsOf, type Measure } from './curves';
import { SERIES } from './experiments';
import { canOpen } from './head_maps';
import { shownOf } from './run_record';
import type { Scene } from './scene';
import { drawScores, SCORE_MARKS, SCORES_HEIGHT } from './score_curves';
import { beginningOf, comparison, lookedAt, statusOf, tuningStory } from './status_texts';
import type { Training } from './training_client';

/** What removes the runs that are kept, by their number less one. */
const FORGETS = ['learn.do.forget', 'learn.do.forgetTwo', 'learn.do.forgetThree'] as const;

/** What is pressed, and what it changes on the curves. */
export function runSide(scene: Scene): TemplateResult {
  const { state, look, settings, training } = scene;
  const { current, inSeries } = training;
  const isOurs = training.isOf(settings);
  const note = current && !isOurs && !inSeries ? t('learn.changed') : '';
  return html`<div class="learn-side">
    ${transport(scene, isOurs)}
    <div class="learn-controls learn-tuning" data-control>${guard([state, look], () => tuningControls(scene))}</div>
    <p class="learn-status">${statusText(training)}</p>
    <p class="learn-note hint">${note}</p>
    ${curves('accuracy', scene)}
    ${scrubber(scene)}
    <ul class="plot-key learn-key">
      ${keyEntry('plot-scaled learn-thin', t('learn.key.trained'))}${keyEntry('plot-scaled', t('learn.key.judged'))}
    </ul>
    <p class="learn-tuned hint">${tuningStory(current)}</p>
    ${keeping(scene)}
    ${curves('loss', scene)}
    <p class="learn-difference hint">${comparison(training)}</p>
    ${scores(scene)}
  </div>`;
}

function transport({ state, settings, training }: Scene, isOurs: boolean): TemplateResult {
  const { playing, current, queued } = training;
  const { learnSpeed, learnCompare, learnExperiment } = state;
  const begun = isOurs && current !== null && current.step > 0;
  const toPlay = begun ? 'learn.do.go' : 'learn.do.play';
  const series = learnExperiment === 'names' ? 'names' : 'overfit';
  const hasSeries = learnExperiment !== null && learnExperiment in SERIES;
  const ofSeries = series === 'names' ? 'learn.do.layers' : 'learn.do.heads';
  const play = () => {
    if (training.playing) training.pause();
    else training.play(settings, learnSpeed, learnCompare);
  };
  const playAll = () =>
    training.playAll(
      SERIES[series].map((part) => ({ ...settings, ...part })),
      learnSpeed,
    );
  return html`<div class="learn-transport">
    ${barButton('play', t(playing ? 'learn.do.pause' : toPlay), play)}
    ${barButton('step', t('learn.do.step'), () => training.step(settings, learnCompare))}
    ${barButton('restart', t('learn.do.restart'), () => training.restart(settings, learnCompare))}
    ${barButton('heads', t(queued > 0 ? 'learn.do.headsOn' : ofSeries), playAll, !hasSeries)}
  </div>`;
}

function statusText({ current, failure }: Training): string {
  if (failure) return t('learn.failed', { reason: reasonOf(failure) });
  if (!current) return t('learn.idle');
  if (current.judged.length === 0) return t('learn.starting');
  return current.step === 0 ? beginningOf(current) : statusOf(current);
}

function curves(measure: Measure, { settings, training }: Scene): TemplateResult {
  const { current, kept, looked } = training;
  const input = { measure, current, kept, looked, steps: stepsOf(training, settings) };
  return stage(measure, {
    height: CURVE_HEIGHT,
    label: t(`learn.figure.${measure}`, {
      step: current?.step ?? 0,
      value: digits(current?.lastJudged?.[measure] ?? 0, 3),
    }),
    draw: (width) => drawCurves(pagePen, width, input),
  });
}

/** Of every score the largest that a head has, and the key to its curve. */
function scores({ settings, training }: Scene): TemplateResult {
  const { current: record, looked } = training;
  const input = { record, looked, steps: stepsOf(training, settings) };
  const ids = SCORES_OF[(record?.settings ?? settings).task];
  const named = ids.map((id) => t(`learn.score.${id}`));
  const values = named.map((name, i) => `${name} ${digits(record?.lastJudged?.best[i] ?? 0, 2)}`);
  return html`
    ${stage('scores', {
      height: SCORES_HEIGHT,
      label: t('learn.figure.scores', { values: values.join(t('page.comma')) }),
      draw: (width) => drawScores(pagePen, width, input),
    })}
    <ul class="plot-key learn-score-key">${named.map((name, i) => keyEntry(`plot-${SCORE_MARKS[i]}`, name))}</ul>`;
}

/** Where the reader looks back to. */
function scrubber({ training }: Scene): TemplateResult {
  const { current, looked } = training;
  const last = current?.step ?? 0;
  const moment = current ? lookedAt(current, looked, shownOf(current, looked)?.step) : '';
  const look = (step: number) => training.look(step >= (training.current?.step ?? 0) ? null : step);
  return html`
    <label class="learn-scrub"><span>${t('learn.scrub')}</span>
      <input name="scrub" type="range" min="0" max=${last} step="1" aria-valuetext=${moment || '0'}
        .value=${live(String(looked ?? last))} ?disabled=${live(last === 0)} @input=${withValue((value) => look(Number(value)))}></label>
    <p class="learn-looked"><span>${moment}</span> ${barButton('live', t('learn.do.live'), () => training.look(null), looked === null)}</p>`;
}

/** Whether the run before stays, and what is done with runs that are there. */
function keeping({ state, training, change }: Scene): TemplateResult {
  const { playing, current, kept } = training;
  const opens = !playing && current !== null && current.step > 0 && canOpen(current.settings);
  const take = withChecked((learnCompare) => change({ learnCompare }));
  return html`<div class="learn-transport">
    <label class="check"><input type="checkbox" name="compare" .checked=${live(state.learnCompare)} @change=${take}> <span>${t('learn.compare')}</span></label>
    ${barButton('forget', t(FORGETS[kept.length - 1] ?? FORGETS[0]), () => training.forgetKept(), kept.length === 0)}
    ${barButton('open', t('learn.do.open'), () => training.save(), !opens)}
  </div>`;
}
