import { html, type TemplateResult } from 'lit-html';
import { live } from 'lit-html/directives/live.js';
import type { View } from '../../panel';
import { button, withChecked } from '../../../ui/lit/controls';
import { bytes, duration } from '../../../ui/numbers';
import { LIMITS, type State } from '../../../state/state';
import { ModelPart, wholeNumber } from './model_part';
import type { Generated } from '../shared/protocol';
import { t } from '../feature';

/** Tokens in a second that an eye can follow. */
const SLOW = 24;
const MOST = 400;

/** The model writes on, one token after another, while the cache of keys and values grows. */
export class WritePart extends ModelPart {
  #running = false;
  /** What it has written, once it is over: read out then, and not token by token. */
  #said = '';

  protected inputs({ model, state, look }: View): readonly unknown[] {
    return [model.generated, state.modelSeed, state.modelSlow, look];
  }

  override update(view: View): void {
    const { generated } = view.model;
    const running = generated?.running ?? false;
    if (!generated) this.#said = '';
    else if (this.#running && !running) {
      this.#said = t('model.write.said', { tokens: generated.tokens, text: generated.text });
    }
    this.#running = running;
    super.update(view);
  }

  protected render({ model: { generated }, state }: View): TemplateResult {
    const isNone = generated === null;
    return html`
      <h3>${t('model.write.title')}</h3>
      <p class="hint">${t('model.write.intro')}</p>
      ${this.#tools(state)}
      <p class="model-written" tabindex="0" role="region" aria-label=${t('model.write.text')}
        ?hidden=${isNone}><span class="before">${generated?.before.trimStart()}</span><span class="written">${generated?.text}</span></p>
      <div class="model-cache" ?hidden=${isNone}>
        <label><span class="model-cache-text">${generated && cacheText(generated)}</span>
          <progress max=${generated?.capacity ?? 1} value=${generated?.cached ?? 0}></progress></label>
      </div>
      <p class="model-rate">${generated && rateText(generated)}</p>
      <p class="visually-hidden" role="status" data-said .textContent=${this.#said}></p>`;
  }

  #tools(state: State): TemplateResult {
    const slow = withChecked((modelSlow) => this.change({ modelSlow }));
    return html`<div class="model-controls">
      ${button('write', t(this.#running ? 'model.write.stop' : 'model.write.start'), () => this.#press(state))}
      <div class="control" data-control>${wholeNumber(
        'model-seed',
        t('model.write.seed'),
        LIMITS.modelSeed,
        { value: state.modelSeed, take: (modelSeed) => this.change({ modelSeed }) },
      )}</div>
      <label class="check" data-control><input type="checkbox" id="model-slow" .checked=${live(state.modelSlow)}
        @change=${slow}> <span>${t('model.write.slow')}</span></label>
    </div>`;
  }

  #press({ modelSeed: seed, modelSlow }: State): void {
    const pace = modelSlow ? SLOW : null;
    this.tell(this.#running ? { kind: 'stop' } : { kind: 'generate', seed, tokens: MOST, pace });
  }

  /** What was written last is in sight. */
  protected override rendered({ model }: View): void {
    if (!model.generated) return;
    const box = this.find('.model-written', HTMLElement);
    box.scrollTop = box.scrollHeight;
  }
}

function cacheText({ cached, capacity, bytesPerToken }: Generated): string {
  const sizes = { bytes: bytes(cached * bytesPerToken), all: bytes(capacity * bytesPerToken) };
  return t('model.write.cache', { cached, capacity, ...sizes });
}

function rateText({ median, tokens }: Generated): string {
  const time = Number.isFinite(median) ? duration(median) : '–';
  return t('model.write.rate', { time, tokens });
}
