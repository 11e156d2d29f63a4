import { html, type TemplateResult } from 'lit-html';
import { guard } from 'lit-html/directives/guard.js';
import type { View } from '../../panel';
import { pagePen } from '../../../ui/plot';
import type { State } from '../../../state/state';
import { button, typedText, withValue } from '../../../ui/lit/controls';
import { drawn } from '../../../ui/lit/plots';
import { defaultText } from '../../../i18n/i18n';
import { CARDS } from './model_cards';
import { CURVE_HEIGHT, drawLog } from './plots';
import { droppedFiles, hasFiles } from './dropped_files';
import { shippedFiles } from './shipped_files';
import { ModelPart } from './model_part';
import { bytes as written, whole } from '../../../ui/numbers';
import { EXAMPLES, SHIPPED, type ShippedName } from '../shared/shipped_models';
import { AFRESH, modelOf } from '../state';
import type { ModelView } from '../shared/model_view';
import { fileOfAddress, type KeptFiles } from '../shared/protocol';
import { t } from '../feature';

/** Where a model comes from: those of the page by a button, the reader's own as a file. */
export class LoadPart extends ModelPart {
  protected inputs({ model, state, look }: View): readonly unknown[] {
    const { loading, refused, info, kept } = model;
    return [
      kept,
      loading,
      refused,
      info,
      state.model,
      state.modelFile,
      state.modelAddress,
      state.text,
      look,
    ];
  }

  protected render(view: View): TemplateResult {
    const { loading, refused } = view.model;
    return html`
      <div class="model-choices">
        ${SHIPPED.map((name) => this.#shipped(name, view))}
        ${this.#own(view)}
      </div>
      <div class="model-progress" ?hidden=${loading === null}>
        <label><span class="model-progress-text">${loading && progressText(loading)}</span>
          <progress max=${Math.max(1, loading?.total ?? 0)} value=${loading?.loaded ?? 0}></progress></label>
        ${button('abort', t('model.abort'), () => this.tell({ kind: 'abort' }))}
      </div>
      <div class="failure model-refused" role="alert" ?hidden=${refused === null}>${refused && refusal(refused)}</div>`;
  }

  #shipped(name: ShippedName, view: View): TemplateResult {
    const { model, look } = view;
    const { parameters, heldOut, unit } = CARDS[name];
    const bytes = written(CARDS[name].bytes);
    const size = {
      ...{ parameters: whole(parameters), bytes },
      ...{ heldOut: heldOut.toFixed(3), unit: t(`model.unit.${unit}`) },
    };
    const isLoaded = model.info?.name === name;
    const isOutside = shippedFiles(name) === null;
    return html`<article class=${classOf(isLoaded, isLinked(name, view))} data-model=${name}>
      <h3>${t(`model.${name}.name`)}</h3>
      <p class="model-about">${t(`model.${name}.about`)}</p>
      <p class="model-size hint">${t('model.size', size)}</p>
      <div class="buttons"><button type="button" class="button load" ?hidden=${isOutside} ?disabled=${model.loading !== null}
        @click=${() => this.#load(name, view)}>${t(isLoaded ? 'model.again' : 'model.load', { bytes })}</button></div>
      <p class="hint model-outside" ?hidden=${!isOutside}>${t('model.outside', { file: `${name}.safetensors`, bytes })}</p>
      ${guard([look], () => provenance(name))}
    </article>`;
  }

  #own({ state, model }: View): TemplateResult {
    const { info } = model;
    const isLoaded = info !== null && info.name === null;
    const missing = isLoaded ? null : state.modelFile;
    const choose = ({ currentTarget }: Event) => {
      const input = currentTarget as HTMLInputElement;
      this.loadFiles(Array.from(input.files ?? []));
      input.value = ''; // the same file may be chosen again
    };
    return html`<article class=${classOf(isLoaded, state.modelFile !== null)} data-model="own">
      <h3>${t('model.own.name')}</h3>
      <p class="model-about">${t('model.own.about')}</p>
      <p class="model-linked note" ?hidden=${missing === null}>${missing === null ? '' : t('model.linked', { name: missing })}</p>
      <div class="buttons"><label class="button model-file"><span>${t('model.choose')}</span>
        <input type="file" multiple class="visually-hidden" @change=${choose}></label></div>
      ${this.#address(state)}
      ${this.#kept(model.kept, model.loading !== null)}
      <p class="hint">${t('model.own.kinds')}</p>
    </article>`;
  }

  /** The single file fetches nothing: its policy refuses that. */
  #address({ modelAddress }: State): TemplateResult {
    const load = (event: Event) => {
      event.preventDefault();
      if (modelAddress === null || !isAddress(modelAddress)) return;
      this.change(AFRESH);
      const { href: url } = new URL(modelAddress, location.href);
      this.tell({ kind: 'load', files: { kind: 'web', url } });
    };
    return html`<form class="model-address" ?hidden=${shippedFiles(SHIPPED[0]) === null} @submit=${load}>
      <label for="model-address">${t('model.address.label')}</label>
      <input type="text" class="text-box" inputmode="url" id="model-address" autocomplete="off" spellcheck="false" maxlength="300"
        placeholder="https://…/model-Q4_K_M.gguf" ${typedText(modelAddress ?? '')}
        @input=${withValue((address) => this.change({ modelAddress: address.trim() || null }))}>
      <button type="submit" class="button" ?disabled=${!isAddress(modelAddress)}>${t('model.address.load')}</button>
      <p class="hint">${t('model.address.about')}</p>
    </form>`;
  }

  /** What this browser keeps of addresses; requested when a reader wants to see it. */
  #kept(kept: ModelView['kept'], isLoading: boolean): TemplateResult {
    const ask = ({ currentTarget }: Event) => {
      const { open } = currentTarget as HTMLDetailsElement;
      if (open && kept === null) this.tell({ kind: 'list_kept' });
    };
    const total = (kept?.files ?? []).reduce((sum, { bytes }) => sum + bytes, 0);
    const line = ({ address, bytes, isWhole }: KeptFiles['files'][number]) => html`<li>
      <span title=${address}>${fileOfAddress(address)}</span> ${written(bytes)}${isWhole ? '' : ` (${t('model.kept.part')})`}
      <button type="button" class="button" ?disabled=${isLoading} aria-label=${t('model.kept.removeOne', { name: fileOfAddress(address) })}
        @click=${() => this.tell({ kind: 'remove_kept', address })}>${t('model.kept.remove')}</button></li>`;
    return html`<details class="model-kept" ?hidden=${shippedFiles(SHIPPED[0]) === null} @toggle=${ask}>
      <summary>${t('model.kept.title')}</summary>
      <p class="hint">${t('model.kept.about')}</p>
      <p class="hint" ?hidden=${kept === null}>${t('model.kept.total', { bytes: written(total) })}</p>
      <p class="note" ?hidden=${(kept?.problem ?? null) === null}>${t('model.kept.problem', { why: kept?.problem ?? '' })}</p>
      <ul>${(kept?.files ?? []).map(line)}</ul>
    </details>`;
  }

  #load(name: ShippedName, view: View): void {
    const { state, model } = view;
    // An example that nobody has touched makes room for one of the kind that this model knows.
    const untouched = state.text === defaultText(state.language);
    const text = untouched ? { text: exampleOf(name, state.language), query: null } : {};
    // What a link says of its own model stays; of another one it would mean other heads and tokens.
    const same = isLinked(name, view) && (model.info === null || model.info.name === name);
    const changes = { ...(same ? {} : AFRESH), ...text };
    if (Object.keys(changes).length > 0) this.change(changes);
    const files = shippedFiles(name);
    if (files) this.tell({ kind: 'load', files });
  }

  loadFiles(files: readonly File[]): void {
    if (files.length === 0) return;
    this.change(AFRESH);
    this.tell({ kind: 'load', files: { kind: 'files', files } });
  }

  /** The focus goes on from a button that is not there any more. */
  protected override rendered({ model }: View): void {
    const isHeld = this.find('.model-progress', HTMLElement).contains(document.activeElement);
    if (isHeld && !model.loading) this.find('.model-choices button', HTMLElement).focus();
  }
}

/** Files may be dropped anywhere on this element. */
export function listenToDrops(target: HTMLElement, take: (files: readonly File[]) => void): void {
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
    void droppedFiles(event).then(take);
  });
}

/** Whether this is where something can be fetched. */
function isAddress(address: string | null): boolean {
  if (!address || !URL.canParse(address, location.href)) return false;
  return /^https?:$/.test(new URL(address, location.href).protocol);
}

const classOf = (isLoaded: boolean, isWanted: boolean) =>
  `model-choice${isLoaded ? ' loaded' : ''}${isWanted ? ' linked' : ''}`;

/** Whether a link shows this one of the page's models. */
const isLinked = (name: ShippedName, { state }: View) =>
  state.modelFile === null && modelOf(state, state.language) === name;

function progressText({ what, loaded, total }: NonNullable<ModelView['loading']>): string {
  const values = { name: nameOf(what), loaded: written(loaded), total: written(total) };
  return t(total > 0 ? 'model.loading' : 'model.opening', values);
}

function refusal({ what, failure }: NonNullable<ModelView['refused']>): TemplateResult {
  const known = {
    no_weights: 'model.noWeights',
    config_json: 'model.configJson',
    address_failed: 'model.address.failed',
  } as const;
  const key = known[failure.code as keyof typeof known];
  const sentence = key ? t(key, { name: failure.message }) : failure.message.replace(/^load: /, '');
  return html`
    <h3>${t('model.refused', { name: nameOf(what) })}</h3>
    <p class="model-sentence">${sentence}</p>
    <p class="hint">${t('model.refusedHint')}</p>`;
}

/** Where a model comes from, and how it was trained. */
function provenance(name: ShippedName): TemplateResult {
  const { log, baselines } = CARDS[name];
  const [first, last] = [log.heldOut[0], log.heldOut.at(-1)];
  const plot = {
    height: CURVE_HEIGHT,
    label: t('model.logLabel', { first: first?.toFixed(2) ?? '', last: last?.toFixed(2) ?? '' }),
    draw: (width: number) => drawLog(pagePen, width, { log, baselines }),
  };
  return html`<details class="model-provenance">
    <summary>${t('model.provenance')}</summary>
    <ul class="model-facts">${factsOf(name).map((fact) => html`<li>${fact}</li>`)}</ul>
    <div class="plot-stage model-log" ${drawn(plot)}></div>
    <p class="hint">${t('model.log')}</p>
  </details>`;
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
