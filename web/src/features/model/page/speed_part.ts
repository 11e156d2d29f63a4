import type { View } from '../../panel';
import { pagePen } from '../../../ui/plot';
import { PlotStage, keyEntryHtml } from '../../../ui/plot_stage';
import { digits, duration } from '../../../ui/numbers';
import { drawSpeed, SPEED_HEIGHT } from './plots';
import { ModelPart } from './model_part';
import type { Speed, SpeedPoint } from '../shared/protocol';
import { t } from '../feature';

const keyEntry = (mark: 'plain' | 'scaled', name: 'whole' | 'cached') =>
  keyEntryHtml(`plot-${mark}`, `<span data-t="model.speed.${name}"></span>`);

/** What the cache saves: the time of a token behind so many others, measured both ways on this machine. */
export class SpeedPart extends ModelPart {
  #stage: PlotStage | null = null;

  protected template(): string {
    return `
      <h3 data-t="model.speed.title"></h3>
      <p class="hint" data-t="model.speed.intro"></p>
      <div class="buttons"><button type="button" class="button measure" data-t="model.speed.measure"></button></div>
      <div class="plot-stage model-speed"></div>
      <ul class="plot-key model-speed-key" hidden>
        ${keyEntry('plain', 'whole')}${keyEntry('scaled', 'cached')}
      </ul>
      <p class="model-speed-text"></p>`;
  }

  protected override ready(): void {
    this.onClick('.measure', () => this.tell({ kind: 'speed' }));
    this.#stage = new PlotStage(this.find('.model-speed', HTMLElement));
  }

  update({ model, state, look }: View): void {
    const { speed } = model;
    if (!this.changed(speed, state.language, look)) return;
    this.find('.measure', HTMLButtonElement).disabled = speed?.running ?? false;
    this.find('.model-speed-key', HTMLElement).hidden = speed === null;
    const last = speed?.points.at(-1);
    if (speed && last) {
      this.#draw(speed, last);
      return;
    }
    this.#stage?.clear();
    this.setText('.model-speed-text', '');
  }

  #draw({ points, difference, running }: Speed, last: SpeedPoint): void {
    const values = {
      length: last.length,
      cached: duration(last.cached),
      whole: duration(last.whole),
      times: (last.whole / last.cached).toFixed(last.whole > 10 * last.cached ? 0 : 1),
      difference: digits(difference, 2),
    };
    this.#stage?.show({
      height: SPEED_HEIGHT,
      label: t('model.speed.label', values),
      draw: (width) => drawSpeed(pagePen, width, points),
    });
    const found = t(difference === 0 ? 'model.speed.same' : 'model.speed.found', values);
    this.setText('.model-speed-text', running ? t('model.speed.running') : found);
  }
}
