import { find } from '../../../ui/dom';
import type { View } from '../../panel';
import { pagePen } from '../../../ui/plot';
import { PlotStage } from '../../../ui/plot_stage';
import { defaultText } from '../../../i18n/i18n';
import { richNodes } from '../../../i18n/markup';
import { CARDS } from './model_cards';
import { CURVE_HEIGHT, drawLog } from './plots';
import { droppedFiles, hasFiles } from './dropped_files';
import { shippedFiles } from './shipped_files';
import { ModelPart } from './model_part';
import { bytes as written, whole } from '../../../ui/numbers';
import { EXAMPLES, SHIPPED, type ShippedName } from '../shared/shipped_models';
import { AFRESH, modelOf } from '../state';
import type { ModelView } from '../shared/model_view';
import { t } from '../feature';

const shipped = (name: ShippedName) => `
  <article class="model-choice" data-model="${name}">
    <h3 data-t="model.${name}.name"></h3>
    <p class="model-about" data-t="model.${name}.about"></p>
    <p class="model-size hint"></p>
    <div class="buttons"><button type="button" class="button load"></button></div>
    <p class="hint model-outside" hidden></p>
    <details class="model-provenance">
      <summary data-t="model.provenance"></summary>
      <ul class="model-facts"></ul>
      <div class="plot-stage model-log"></div>
      <p class="hint" data-t="model.log"></p>
    </details>
  </article>`;

/** Where a model comes from: those of the page by a button, the reader's own as a file. */
export class LoadPart extends ModelPart {
  #view: View | null = null;
  readonly #logs = new Map<ShippedName, PlotStage>();

  protected template(): string {
    return `
      <div class="model-choices">
        ${SHIPPED.map(shipped).join('')}
        <article class="model-choice" data-model="own">
          <h3 data-t="model.own.name"></h3>
          <p class="model-about" data-t="model.own.about"></p>
          <p class="model-linked note" hidden></p>
          <div class="buttons"><label class="button model-file"><span data-t="model.choose"></span>
            <input type="file" multiple class="visually-hidden"></label></div>
          <p class="hint" data-t="model.own.kinds"></p>
        </article>
      </div>
      <div class="model-progress" hidden>
        <label><span class="model-progress-text"></span> <progress max="1" value="0"></progress></label>
        <button type="button" class="button abort" data-t="model.abort"></button>
      </div>
      <div class="failure model-refused" role="alert" hidden>
        <h3></h3>
        <p class="model-sentence"></p>
        <p class="hint"></p>
      </div>`;
  }

  protected override ready(): void {
    for (const name of SHIPPED) {
      const card = this.#card(name);
      find(card, '.load', HTMLElement).addEventListener('click', () => this.#load(name));
      this.#logs.set(name, new PlotStage(find(card, '.model-log', HTMLElement)));
    }
    this.onClick('.abort', () => this.tell({ kind: 'abort' }));
    const input = this.find('input[type=file]', HTMLInputElement);
    input.addEventListener('change', () => {
      this.#loadFiles(Array.from(input.files ?? []));
      input.value = ''; // the same file may be chosen again
    });
  }

  /** Files may be dropped anywhere on this element. */
  dropOn(target: HTMLElement): void {
    target.addEventListener('dragover', (event) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      target.classList.add('dropping');
    });
    target.addEventListener('dragleave', (event) => {
      const inside = event.relatedTarget instanceof Node && target.contains(event.relatedTarget);
      if (!inside) target.classList.remove('dropping');
    });
    target.addEventListener('drop', (event) => {
      target.classList.remove('dropping');
      if (!hasFiles(event)) return;
      event.preventDefault();
      void droppedFiles(event).then((files) => this.#loadFiles(files));
    });
  }

  #card(name: ShippedName | 'own'): HTMLElement {
    return this.find(`[data-model=${name}]`, HTMLElement);
  }

  #load(name: ShippedName): void {
    const view = this.#view;
    if (!view) return;
    const { state, model } = view;
    // An example that nobody has touched makes room for one of the kind that this model knows.
    const untouched = state.text === defaultText(state.language);
    const text = untouched ? { text: exampleOf(name, state.language), query: null } : {};
    // What a link says of its own model stays; of another one it would mean other heads and tokens.
    const named = state.modelFile === null && modelOf(state, state.language) === name;
    const same = named && (model.info === null || model.info.name === name);
    const changes = { ...(same ? {} : AFRESH), ...text };
    if (Object.keys(changes).length > 0) this.change(changes);
    const files = shippedFiles(name);
    if (files) this.tell({ kind: 'load', files });
  }

  #loadFiles(files: readonly File[]): void {
    if (files.length === 0) return;
    this.change(AFRESH);
    this.tell({ kind: 'load', files: { kind: 'files', files } });
  }

  update(view: View): void {
    this.#view = view;
    const { model, state, look } = view;
    if (
      !this.changed(
        ...[model.loading, model.refused, model.info, state.model, state.modelFile],
        ...[state.language, look],
      )
    ) {
      return;
    }
    this.#describe(view);
    this.#progress(model);
    this.#refusal(model);
  }

  #describe(view: View): void {
    const { state, model } = view;
    for (const name of SHIPPED) {
      const card = this.#card(name);
      const { bytes, parameters, heldOut, unit } = CARDS[name];
      find(card, '.model-size', HTMLElement).textContent = t('model.size', {
        parameters: whole(parameters),
        bytes: written(bytes),
        heldOut: heldOut.toFixed(3),
        unit: t(`model.unit.${unit}`),
      });
      card.classList.toggle('loaded', model.info?.name === name);
      const linked = state.modelFile === null && modelOf(state, state.language) === name;
      card.classList.toggle('linked', linked);
      const inside = shippedFiles(name) !== null;
      find(card, '.model-outside', HTMLElement).hidden = inside;
      find(card, '.model-outside', HTMLElement).textContent = t('model.outside', {
        file: `${name}.safetensors`,
        bytes: written(bytes),
      });
      const button = find(card, '.load', HTMLButtonElement);
      button.hidden = !inside;
      button.disabled = model.loading !== null;
      const again = model.info?.name === name;
      button.textContent = t(again ? 'model.again' : 'model.load', { bytes: written(bytes) });
      const facts = factsOf(name).map((fact) => {
        const item = document.createElement('li');
        item.append(...richNodes(fact));
        return item;
      });
      find(card, '.model-facts', HTMLElement).replaceChildren(...facts);
    }
    const own = this.#card('own');
    own.classList.toggle('loaded', model.info !== null && model.info.name === null);
    own.classList.toggle('linked', state.modelFile !== null);
    const missing = state.modelFile !== null && model.info?.name !== null ? state.modelFile : null;
    find(own, '.model-linked', HTMLElement).hidden = missing === null;
    this.setText('.model-linked', missing === null ? '' : t('model.linked', { name: missing }));
    this.#drawLogs();
  }

  #drawLogs(): void {
    for (const name of SHIPPED) {
      const { log, baselines } = CARDS[name];
      const last = log.heldOut.at(-1)?.toFixed(2) ?? '';
      this.#logs.get(name)?.show({
        height: CURVE_HEIGHT,
        label: t('model.logLabel', { first: log.heldOut[0]?.toFixed(2) ?? '', last }),
        draw: (width) => drawLog(pagePen, width, { log, baselines }),
      });
    }
  }

  #progress({ loading }: ModelView): void {
    const box = this.find('.model-progress', HTMLElement);
    const had = box.contains(document.activeElement);
    box.hidden = loading === null;
    if (!loading) {
      if (had) this.find('.model-choices button', HTMLElement).focus();
      return;
    }
    const { what, loaded, total } = loading;
    const progress = this.find('progress', HTMLProgressElement);
    progress.max = Math.max(1, total);
    progress.value = loaded;
    const values = { name: nameOf(what), loaded: written(loaded), total: written(total) };
    this.setText('.model-progress-text', t(total > 0 ? 'model.loading' : 'model.opening', values));
  }

  #refusal({ refused }: ModelView): void {
    const box = this.find('.model-refused', HTMLElement);
    box.hidden = refused === null;
    if (!refused) return;
    const { what, failure } = refused;
    this.setText('.model-refused h3', t('model.refused', { name: nameOf(what) }));
    const known = { no_weights: 'model.noWeights', config_json: 'model.configJson' } as const;
    const key = known[failure.code as keyof typeof known];
    const sentence = key
      ? t(key, { name: failure.message })
      : failure.message.replace(/^load: /, '');
    this.setText('.model-sentence', sentence);
    this.setText('.model-refused .hint', t('model.refusedHint'));
  }
}

/** The first text of the kind that a model knows, in the reader's language if it has one. */
function exampleOf(name: ShippedName, language: string): string {
  const [first = '', ...others] = EXAMPLES[name];
  const isOurs = (text: string) => /\p{Script=Han}/u.test(text) === (language === 'zh');
  return [first, ...others].find(isOurs) ?? first;
}

const nameOf = (what: string) => {
  const name = SHIPPED.find((each) => each === what);
  return name ? t(`model.${name}.name`) : what;
};

/** The provenance of a model, one sentence each. */
function factsOf(name: ShippedName): string[] {
  const { data, steps, seconds, seed, commit, heldOut, unit, baselines, figures, sha256 } =
    CARDS[name];
  const facts = [
    t(`model.${name}.data`),
    t(`model.${name}.license`),
    ...data.map((each) => t('model.fact.data', each)),
    t('model.fact.run', {
      steps: whole(steps),
      minutes: Math.max(1, Math.round(seconds / 60)),
      seed,
      commit,
    }),
    t('model.fact.heldOut', { loss: heldOut.toFixed(4), unit: t(`model.unit.${unit}`) }),
    ...(figures ? [t(figures.text, figures.values)] : []),
    ...baselines.map(([other, loss]) =>
      t('model.fact.baseline', { name: other, loss: loss.toFixed(4) }),
    ),
    t('model.fact.hash', { hash: sha256.slice(0, 16) }),
  ];
  return facts;
}
