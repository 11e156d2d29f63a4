import { keyEntryHtml, stageHtml } from '../../../ui/plot_stage';
import formulas from '../formulas.json';
import { EXPERIMENTS } from '../shared/run_settings';
import { MODEL_CONTROLS, TASK_CONTROL, TUNING_CONTROLS } from './controls';

const button = (what: string, more = '') =>
  `<button type="button" class="bar-button" data-do="${what}" data-t="learn.do.${what}"${more}></button>`;

const line = (mark: string, key: string) =>
  keyEntryHtml(mark, `<span data-t="learn.key.${key}"></span>`);

const SETUP = `
  <form class="learn-setup">
    <div data-control>${TASK_CONTROL}</div>
    <details class="learn-model"><summary data-t="learn.model"></summary>
      <div class="learn-controls">${MODEL_CONTROLS}</div>
      <p class="hint" data-t="learn.modelHint"></p>
    </details>
    <p class="learn-task"></p>
    <label class="learn-text" hidden><span data-t="learn.set.text"></span>
      <textarea name="text" rows="3" maxlength="1000" spellcheck="false"></textarea>
      <span class="hint" data-t="learn.textHint"></span></label>
  </form>`;

const TRANSPORT = `
  <div class="learn-transport">
    ${button('play')}${button('step')}${button('restart')}${button('heads', ' hidden')}
  </div>
  <div class="learn-controls learn-tuning" data-control>${TUNING_CONTROLS}</div>
  <p class="learn-status"></p>
  <p class="learn-note hint"></p>`;

/** What is pressed, what it changes on the curves, and beside it the layers where it happens. */
const LIVE = `
  <div class="learn-live">
    ${SETUP}
    <div class="learn-guess"></div>
    <div class="learn-side">
      ${TRANSPORT}
      ${stageHtml('accuracy')}
      <label class="learn-scrub"><span data-t="learn.scrub"></span>
        <input name="scrub" type="range" min="0" max="0" value="0" step="1"></label>
      <p class="learn-looked"><span></span> ${button('live', ' hidden')}</p>
      <ul class="plot-key learn-key">
        ${line('plot-scaled learn-thin', 'trained')}${line('plot-scaled', 'judged')}
      </ul>
      <p class="learn-tuned hint"></p>
      <div class="learn-transport">
        <label class="check"><input type="checkbox" name="compare"> <span data-t="learn.compare"></span></label>
        ${button('forget', ' hidden')}${button('open', ' hidden')}
      </div>
      ${stageHtml('loss')}
      <p class="learn-difference hint"></p>
      ${stageHtml('scores')}
      <ul class="plot-key learn-score-key"></ul>
    </div>
    <div class="learn-pictures">
      <h3 data-t="learn.maps"></h3>
      <div class="learn-maps"></div>
      <p class="hint" data-t="map.axes"></p>
      <div class="learn-a" hidden><h3 class="learn-a-title"></h3><div class="learn-maps-a"></div></div>
      <p class="learn-even hint"></p>
      <ul class="learn-births"></ul>
    </div>
  </div>
  <div class="learn-large" hidden>
    <h3 class="learn-large-title"></h3>
    <qkv-matrix></qkv-matrix>
    <p class="told learn-cell"></p>
  </div>`;

const PROBE = `
  <div class="learn-probe">
    <h3 data-t="learn.probe"></h3>
    <p class="hint learn-right"></p>
    <ol class="learn-tokens"></ol>
    <div class="learn-writing" hidden>
      <h3 data-t="learn.writes"></h3>
      <p class="learn-written" translate="no"></p>
      <p class="learn-should hint"></p>
      <p class="learn-free"></p>
    </div>
  </div>`;

const NOISE = `
  <div class="learn-noise" hidden>
    <div class="row-formula formula">${formulas.bestWeights}</div>
    <p data-t="learn.noise.story"></p>
    <p>${button('noise')}</p>
    ${stageHtml('noise')}
    <p class="learn-noise-told"></p>
  </div>`;

const RUN = `
  <div class="learn-run">${LIVE}${PROBE}</div>`;

/** An empty name: a run of the reader's own. */
const LINKS = ['', ...EXPERIMENTS].map((id) => `<li><a data-experiment="${id}"></a></li>`).join('');

export const TEMPLATE = `
  <div class="card learn-card">
    <nav data-t-label="learn.experiments"><ul class="learn-links">${LINKS}</ul></nav>
    <p class="learn-experiment"></p>
    ${NOISE}${RUN}
    <p class="visually-hidden" role="status" data-said></p>
  </div>`;
