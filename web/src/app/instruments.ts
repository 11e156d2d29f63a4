import { MASKS } from '../domain/choices';
import { headCount, shownHead, SOURCES } from '../domain/sources';
import { sentences, t } from '../i18n/i18n';
import { onNumber, showNumber } from '../ui/number_box';
import { digits, duration } from '../ui/numbers';
import { largestEntropy } from '../domain/rows';
import { clamp } from '../state/field';
import { clampTemperature } from '../state/page';
import { LIMITS, type State } from '../state/state';
import { fromSlider, toSlider } from '../ui/temperature_slider';
import { lacksWords, MAX_TEXT, MAX_TOKENS, TOKENIZERS } from '../domain/tokenizer';
import { headName } from '../features/head_names';
import { Panel, type View } from '../features/panel';
import { missingModel, otherModel } from '../features/missing_model';

const LENGTHS = [16, 64, 256, 1024];

const select = (id: string, options: readonly string[]) => `
  <label class="control"><span data-t="controls.${id}"></span>
    <select id="choose-${id}">${options
      .map((value) => `<option value="${value}" data-t="${id}.${value}"></option>`)
      .join('')}</select></label>`;

/** The sentence and everything that can be turned on the layer; stays in sight while the page scrolls. */
export class InstrumentsPanel extends Panel {
  #composing = false;

  protected template(): string {
    const [least, most] = LIMITS.temperature;
    const ends = `min="${toSlider(least)}" max="${toSlider(most)}"`;
    return `
      <div class="instruments-first">
        <label class="visually-hidden" for="text" data-t="sentence.label"></label>
        <textarea id="text" rows="1" spellcheck="false" autocomplete="off"
          aria-describedby="text-note"></textarea>
        <button type="button" class="button unfold" aria-expanded="false" aria-controls="controls">
          <span class="summary"></span></button>
      </div>
      <p class="note" id="text-note" role="status" hidden></p>
      <div class="controls" id="controls" data-control role="group" data-t-label="controls.title">
        ${select('tokenizer', TOKENIZERS)}
        <label class="control"><span data-t="controls.length"></span><select id="choose-length"></select></label>
        <p class="engine"><span class="dot" aria-hidden="true"></span><span class="engine-text"></span></p>
        <span class="break-row"></span>
        <div class="control temperature">
          <label for="tau" data-t="controls.temperature"></label>
          <span class="with-number">
            <input id="tau" type="range" ${ends} step="1" list="tau-marks">
            <datalist id="tau-marks"><option value="0"></option></datalist>
            <input id="temperature-number" type="number" min="${least}" max="${most}" step="any"
              data-t-label="controls.temperatureNumber">
          </span>
        </div>
        <label class="control"><span data-t="controls.head"></span><select id="choose-head"></select></label>
        ${select('mask', MASKS)}
        ${select('positions', ['sinusoidal', 'none', 'own'])}
        ${select('source', SOURCES)}
        <div class="control seed">
          <label for="seed" data-t="controls.seed"></label>
          <span class="with-number">
            <input id="seed" type="number" min="${LIMITS.seed[0]}" max="${LIMITS.seed[1]}" step="1">
            <button type="button" class="button" id="new-seed" data-t-label="controls.newSeed">↻</button>
          </span>
        </div>
      </div>
      <span class="visually-hidden engine-status" role="status"></span>`;
  }

  protected override ready(): void {
    this.#listenToText();
    const slider = this.#input('#tau');
    slider.addEventListener('input', () => this.change({ temperature: fromSlider(+slider.value) }));
    slider.addEventListener('pointerdown', () => this.#hold());
    onNumber(this.#input('#temperature-number'), clampTemperature, (temperature) =>
      this.change({ temperature }),
    );
    const nearestSeed = (typed: number) => clamp(Math.round(typed), LIMITS.seed);
    onNumber(this.#input('#seed'), nearestSeed, (seed) => this.change({ seed }));
    for (const name of ['mask', 'positions', 'tokenizer', 'source'] as const) {
      this.#onSelect(name, (value) => ({ [name]: value }));
    }
    this.#onSelect('head', (value) => ({ head: Number(value) }));
    this.#onSelect('length', (value) => ({ length: value === '' ? null : Number(value) }));
    this.find('#new-seed', HTMLElement).addEventListener('click', () => {
      this.change({ seed: Math.floor(Math.random() * (LIMITS.seed[1] + 1)) });
    });
    const unfold = this.find('.unfold', HTMLElement);
    unfold.addEventListener('click', () => {
      const open = unfold.getAttribute('aria-expanded') !== 'true';
      unfold.setAttribute('aria-expanded', String(open));
      this.find('.controls', HTMLElement).classList.toggle('open', open);
    });
  }

  #listenToText(): void {
    const text = this.find('#text', HTMLTextAreaElement);
    // While an input method is composing, the text is not yet what the person means.
    const send = () => {
      this.#composing = false;
      this.change({ text: text.value, query: null });
    };
    text.addEventListener('input', (event) => {
      this.#composing = event instanceof InputEvent && event.isComposing;
      this.#fitText(); // the state will be what is in the box already, which is then no reason to look at it
      if (!this.#composing) send();
    });
    text.addEventListener('compositionend', send);
    new ResizeObserver(() => this.#fitText()).observe(this);
  }

  /** From now until the pointer lets go, wherever that is, pictures may be coarser than they are at rest. */
  #hold(): void {
    const say = (detail: boolean) =>
      this.dispatchEvent(new CustomEvent('temperature-held', { bubbles: true, detail }));
    const rest = new AbortController();
    for (const name of ['pointerup', 'pointercancel']) {
      const letGo = () => {
        rest.abort();
        say(false);
      };
      window.addEventListener(name, letGo, { signal: rest.signal });
    }
    say(true);
  }

  #input(selector: string): HTMLInputElement {
    return this.find(selector, HTMLInputElement);
  }

  #select(name: string): HTMLSelectElement {
    return this.find(`#choose-${name}`, HTMLSelectElement);
  }

  #onSelect(name: string, patch: (value: string) => Partial<State>): void {
    const box = this.#select(name);
    box.addEventListener('change', () => this.change(patch(box.value)));
  }

  update(view: View): void {
    const { state } = view;
    const text = this.find('#text', HTMLTextAreaElement);
    if (text.value !== state.text && !this.#composing) {
      text.value = state.text;
      this.#fitText();
    }
    text.disabled = state.source === 'yours';
    for (const name of ['mask', 'positions', 'tokenizer', 'source'] as const) {
      this.#select(name).value = state[name];
    }
    this.#updateLearned(view);
    this.#updateHeads(view);
    this.#updateLengths(view);
    showNumber(this.#input('#temperature-number'), state.temperature);
    showNumber(this.#input('#seed'), state.seed);
    this.find('.seed', HTMLElement).hidden = state.source !== 'random';
    this.#updateTemperature(view);
    this.#updateNote(view);
    this.#showEngine(view);
    const values = {
      head: headName(view.heads, shownHead(state.head, view.heads)),
      temperature: state.temperature,
      mask: t(`mask.${view.frame?.request.layer.mask ?? state.mask}`),
    };
    this.setText('.summary', t('controls.summary', values));
  }

  /** What a trained model has of its own cannot be turned; the note below says so. */
  #updateLearned({ state, frame }: View): void {
    const learned = state.source === 'trained';
    for (const name of ['mask', 'positions'] as const) {
      this.#select(name).disabled = learned;
      this.#select(name).title = learned ? t('controls.learned') : '';
    }
    this.find('#choose-positions [value=own]', HTMLOptionElement).hidden = !learned;
    if (!learned) return;
    if (frame?.request.layer.source === 'trained') {
      this.#select('mask').value = frame.request.layer.mask;
    }
    this.#select('positions').value = 'own';
  }

  #updateHeads({ state, look, model, heads }: View): void {
    const { source } = state;
    const box = this.#select('head');
    if (this.#differs(box, [source, look, source === 'trained' && model.info?.id])) {
      const option = (_: unknown, head: number) => new Option(headName(heads, head), String(head));
      box.replaceChildren(...Array.from({ length: headCount(heads) }, option));
    }
    box.value = String(shownHead(state.head, heads));
  }

  #updateLengths({ state, list, look }: View): void {
    const box = this.#select('length');
    const { length } = state;
    const own = length === null ? list.tokens.length : Math.min(list.total, MAX_TOKENS);
    if (this.#differs(box, [length, own, look])) {
      const others = length === null || LENGTHS.includes(length) ? LENGTHS : [...LENGTHS, length];
      box.replaceChildren(
        new Option(t('length.own', { count: own }), ''),
        ...others.map((count) => new Option(String(count), String(count))),
      );
    }
    box.value = length === null ? '' : String(length);
    box.disabled = state.source === 'yours';
    this.#select('tokenizer').disabled = state.source === 'yours' || state.source === 'trained';
  }

  /** Options are made anew only when they differ: replacing them would close an open list. */
  #differs(box: HTMLSelectElement, of: readonly unknown[]): boolean {
    const key = of.join();
    if (box.dataset['of'] === key) return false;
    box.dataset['of'] = key;
    return true;
  }

  #updateTemperature({ state, heads, report, list, frame }: View): void {
    const slider = this.#input('#tau');
    slider.value = String(toSlider(state.temperature));
    const mean = report?.heads[shownHead(state.head, heads)]?.entropy;
    const value = state.temperature;
    if (mean === undefined || list.tokens.length === 0) {
      slider.setAttribute('aria-valuetext', t('controls.spoken', { value }));
      return;
    }
    const most = digits(
      largestEntropy(frame?.request.layer.mask ?? state.mask, list.tokens.length),
      3,
    );
    const numbers = { value, entropy: digits(mean, 3), most };
    slider.setAttribute('aria-valuetext', t('controls.spokenEntropy', numbers));
  }

  #updateNote(view: View): void {
    const { list, state } = view;
    const notes = [];
    if (state.source === 'trained') {
      notes.push(missingModel(view) ?? t('controls.learned'));
      const other = otherModel(view);
      if (other !== '') notes.push(other);
    }
    if (list.textCut) notes.push(t('sentence.textCut', { max: MAX_TEXT }));
    if (state.length === null && list.total > MAX_TOKENS) {
      notes.push(t('sentence.tokensCut', { max: MAX_TOKENS, total: list.total }));
    }
    if (
      state.source !== 'trained' &&
      state.source !== 'yours' &&
      lacksWords(state.text, state.tokenizer)
    ) {
      notes.push(t('sentence.noWords'));
    }
    this.setText('#text-note', sentences(...notes));
    this.find('#text-note', HTMLElement).hidden = notes.length === 0;
  }

  #showEngine({ engine, frame, frameTime }: View): void {
    this.dataset['engine'] = engine.kind;
    const names = { loading: 'bar.loading', ready: 'bar.ready', failed: 'bar.failed' } as const;
    let text = t(names[engine.kind]);
    // Only this is spoken: the numbers that follow change with every key.
    this.setText('.engine-status', text);
    if (engine.kind === 'ready' && frame && frameTime > 0) {
      text = t('bar.running', { time: duration(frameTime) });
    }
    this.setText('.engine-text', text);
  }

  /** The box grows with its text, up to three lines. */
  #fitText(): void {
    const text = this.find('#text', HTMLTextAreaElement);
    text.style.height = 'auto';
    const border = text.offsetHeight - text.clientHeight;
    text.style.height = `${Math.min(text.scrollHeight + border, 104)}px`;
  }
}
