import { digits, whole } from '../../../ui/numbers';
import { HEADS, KINDS, SEEDS, type Kind } from '../shared/model_configs';
import { legendOf } from './plot_marks';
import type { Progress } from '../shared/protocol';
import { t } from '../feature';
import { LAYER_HEADS, WIDTH } from '../shared/timing_settings';

/** Of the files of trained weights, gzip, in kB; a test holds it to them. */
export const TRAINED_KB = 94;

export const COLUMNS = ['model', 'parameters', 'steps', 'rate', 'loss', 'batchAccuracy'] as const;

const modelRow = (kind: Kind) => `
  <tr data-model="${kind}"><th scope="row">${legendOf(kind)} <span data-t="recurrence.${kind}"></span></th>${'<td></td>'.repeat(5)}</tr>`;

const table = () => `
  <div class="recurrence-models" hidden>
    <div class="recurrence-table"><table class="data-table" data-t-label="recurrence.models">
      <thead><tr>${COLUMNS.map((name) => `<th scope="col" data-t="recurrence.${name}"></th>`).join('')}</tr></thead>
      <tbody>${KINDS.map(modelRow).join('')}</tbody>
    </table></div>
    <p class="hint recurrence-same"></p>
  </div>`;

const tools = () => `
  <div class="tools-row recurrence-tools">
    <button type="button" class="button" data-press="play"></button>
    <button type="button" class="button" data-press="step" data-t="recurrence.step"></button>
    <button type="button" class="button" data-press="load"></button>
    <div class="control seed" data-control>
      <label for="recurrence-seed" data-t="recurrence.seed"></label>
      <input id="recurrence-seed" type="number" min="${SEEDS[0]}" max="${SEEDS[1]}" step="1">
    </div>
  </div>`;

const heads = () =>
  Array.from({ length: HEADS }, (_, head) => `<option value="${head}"></option>`).join('');

const reading = () => `
  <section class="recurrence-part">
    <div class="tools-row recurrence-tools" data-control>
      <div class="control recurrence-source">
        <label for="recurrence-source" data-t="recurrence.source"></label>
        <input id="recurrence-source" type="text" inputmode="numeric" autocomplete="off" spellcheck="false">
      </div>
      <button type="button" class="button" data-press="draw" data-t="recurrence.draw"></button>
    </div>
    <div class="said" role="group" data-t-label="recurrence.saidLabel"></div>
    <div class="recurrence-reading" hidden>
      <p class="hint" data-t="recurrence.saidNote"></p>
      <h3 data-t="recurrence.maps"></h3>
      <p data-t="recurrence.mapsIntro"></p>
      <div class="recurrence-maps">
        <div data-map="gru_attention"><h4><span data-t="recurrence.gru_attention"></span></h4>
          <qkv-matrix></qkv-matrix><p class="hint"></p></div>
        <div data-map="transformer"><h4><span data-t="recurrence.transformer"></span>
          <select id="recurrence-head" data-t-label="recurrence.head" data-control>${heads()}</select></h4>
          <qkv-matrix></qkv-matrix><p class="hint"></p></div>
      </div>
    </div>
  </section>`;

const legend = () => `
  <ul class="plot-key">${KINDS.map((kind) => `<li>${legendOf(kind)} <span data-t="recurrence.${kind}"></span></li>`).join('')}</ul>`;

const chart = (name: string, before: string, after = '') => `
  <section class="recurrence-part" data-chart="${name}">
    <h3 data-t="recurrence.${name}"></h3>${before}
    <div class="plot-stage"></div>
    ${after}
    <div class="recurrence-words"></div>
  </section>`;

const costTools = `
  <div class="tools-row"><button type="button" class="button" data-press="measure"></button>
    <output class="recurrence-measuring"></output></div>`;

export const template = (): string => `
  <div class="card">
    ${tools()}
    <p class="recurrence-badge"></p>
    ${table()}
    ${reading()}
    <div class="recurrence-learned" hidden>
      <div class="recurrence-charts">
        ${chart('accuracy', '')}
        ${chart('reach', '', '<p data-t="recurrence.reachIntro"></p>')}
      </div>
      ${legend()}
    </div>
    ${chart('cost', `<p class="recurrence-cost-intro"></p>${costTools}`)}
    <p class="visually-hidden" role="status" data-said></p>
  </div>`;

/** The cells of a model's row after its name. */
export function tableRows({ origin, learners }: Progress, kind: Kind): string[] {
  const { parameters, steps, loss, accuracy, milliseconds } = learners[kind];
  const known = (value: number, written: string) => (Number.isFinite(value) ? written : '–');
  return [
    whole(parameters),
    String(steps),
    origin === 'here' ? known(milliseconds, digits(1000 / milliseconds, 3)) : '–',
    known(loss, digits(loss, 3)),
    known(accuracy, `${(100 * accuracy).toFixed(0)}%`),
  ];
}

/** Texts with numbers in them that never change. */
export const fixedTexts = (): Readonly<Record<string, string>> => ({
  '[data-press=load]': t('recurrence.load', { size: TRAINED_KB }),
  '.recurrence-cost-intro': t('recurrence.costIntro', { width: WIDTH, heads: LAYER_HEADS }),
});
