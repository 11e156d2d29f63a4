import type { View } from '../../panel';
import { bytes, duration } from '../../../ui/numbers';
import { LIMITS } from '../../../state/state';
import { ModelPart } from './model_part';
import type { Generated } from '../shared/protocol';
import { modelFields } from '../state';
import { t } from '../feature';

/** Tokens in a second that an eye can follow. */
const SLOW = 24;
const MOST = 400;

/** The model writes on, one token after another, while the cache of keys and values grows. */
export class WritePart extends ModelPart {
  #view: View | null = null;
  #running = false;

  protected template(): string {
    return `
      <h3 data-t="model.write.title"></h3>
      <p class="hint" data-t="model.write.intro"></p>
      <div class="model-controls">
        <button type="button" class="button write"></button>
        <div class="control" data-control><label for="model-seed" data-t="model.write.seed"></label>
          <input id="model-seed" type="number" min="${LIMITS.modelSeed[0]}"
            max="${LIMITS.modelSeed[1]}" step="1"></div>
        <label class="check" data-control><input type="checkbox" id="model-slow"> <span data-t="model.write.slow"></span></label>
      </div>
      <p class="model-written" tabindex="0" role="region" data-t-label="model.write.text" hidden><span class="before"></span><span class="written"></span></p>
      <div class="model-cache" hidden>
        <label><span class="model-cache-text"></span> <progress max="1" value="0"></progress></label>
      </div>
      <p class="model-rate"></p>
      <p class="visually-hidden" role="status" data-said></p>`;
  }

  protected override ready(): void {
    this.onClick('.write', () => {
      if (this.#running) this.tell({ kind: 'stop' });
      else this.#write();
    });
    const seed = this.find('#model-seed', HTMLInputElement);
    seed.addEventListener('change', () => {
      const modelSeed = modelFields.modelSeed.read(seed.value);
      if (modelSeed !== undefined) this.change({ modelSeed });
    });
    const slow = this.find('#model-slow', HTMLInputElement);
    slow.addEventListener('change', () => this.change({ modelSlow: slow.checked }));
  }

  #write(): void {
    const state = this.#view?.state;
    if (!state) return;
    const pace = state.modelSlow ? SLOW : null;
    this.tell({ kind: 'generate', seed: state.modelSeed, tokens: MOST, pace });
  }

  update(view: View): void {
    this.#view = view;
    const { model, state, look } = view;
    const { generated, answers } = model;
    const { modelSeed, modelSlow, language } = state;
    if (!this.changed(generated, answers.reading, modelSeed, modelSlow, language, look)) return;
    const seed = this.find('#model-seed', HTMLInputElement);
    if (document.activeElement !== seed) seed.value = String(modelSeed);
    this.find('#model-slow', HTMLInputElement).checked = modelSlow;
    const was = this.#running;
    this.#running = generated?.running ?? false;
    this.setText('.write', t(this.#running ? 'model.write.stop' : 'model.write.start'));
    this.find('.model-written', HTMLElement).hidden = generated === null;
    this.find('.model-cache', HTMLElement).hidden = generated === null;
    if (generated) {
      this.#tell(generated);
    } else {
      this.setText('.model-rate', '');
      this.setText('[data-said]', '');
    }
    if (was && !this.#running && generated) {
      this.setText(
        '[data-said]',
        t('model.write.said', { tokens: generated.tokens, text: generated.text }),
      );
    }
  }

  #tell({ before, text, cached, capacity, bytesPerToken, median, tokens }: Generated): void {
    this.setText('.before', before.trimStart());
    this.setText('.written', text);
    const box = this.find('.model-written', HTMLElement);
    box.scrollTop = box.scrollHeight;
    const progress = this.find('progress', HTMLProgressElement);
    progress.max = capacity;
    progress.value = cached;
    const values = {
      cached,
      capacity,
      bytes: bytes(cached * bytesPerToken),
      all: bytes(capacity * bytesPerToken),
    };
    this.setText('.model-cache-text', t('model.write.cache', values));
    const known = Number.isFinite(median);
    const rate = { time: known ? duration(median) : '–', tokens };
    this.setText('.model-rate', t('model.write.rate', rate));
  }
}
