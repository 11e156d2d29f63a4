import { html, type TemplateResult } from 'lit-html';
import type { View } from '../../panel';
import { pagePen } from '../../../ui/plot';
import { drawn, keyEntry } from '../../../ui/lit/plots';
import { digits, duration } from '../../../ui/numbers';
import { drawSpeed, SPEED_HEIGHT } from './plots';
import { ModelPart } from './model_part';
import type { Speed, SpeedPoint } from '../shared/protocol';
import { t } from '../feature';

/** What the cache saves: the time of a token behind so many others, measured both ways on this machine. */
export class SpeedPart extends ModelPart {
  protected inputs({ model, look }: View): readonly unknown[] {
    return [model.speed, look];
  }

  protected render({ model: { speed } }: View): TemplateResult {
    const last = speed?.points.at(-1);
    return html`
      <h3>${t('model.speed.title')}</h3>
      <p class="hint">${t('model.speed.intro')}</p>
      <div class="buttons"><button type="button" class="button measure" ?disabled=${speed?.running ?? false}
        @click=${() => this.tell({ kind: 'speed' })}>${t('model.speed.measure')}</button></div>
      ${speed && last ? stageOf(speed, last) : html`<div class="plot-stage model-speed"></div>`}
      <ul class="plot-key model-speed-key" ?hidden=${speed === null}>
        ${keyEntry('plot-plain', t('model.speed.whole'))}${keyEntry('plot-scaled', t('model.speed.cached'))}
      </ul>
      <p class="model-speed-text">${speed && last && foundText(speed, last)}</p>`;
  }
}

const valuesOf = ({ difference }: Speed, { length, cached, whole }: SpeedPoint) => ({
  ...{ length, cached: duration(cached), whole: duration(whole) },
  times: (whole / cached).toFixed(whole > 10 * cached ? 0 : 1),
  difference: digits(difference, 2),
});

function stageOf(speed: Speed, last: SpeedPoint): TemplateResult {
  const plot = {
    height: SPEED_HEIGHT,
    label: t('model.speed.label', valuesOf(speed, last)),
    draw: (width: number) => drawSpeed(pagePen, width, speed.points),
  };
  return html`<div class="plot-stage model-speed" ${drawn(plot)}></div>`;
}

function foundText(speed: Speed, last: SpeedPoint): string {
  if (speed.running) return t('model.speed.running');
  const key = speed.difference === 0 ? 'model.speed.same' : 'model.speed.found';
  return t(key, valuesOf(speed, last));
}
