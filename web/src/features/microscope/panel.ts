import '../../ui/plot.css';
import './style.css';
import { html, nothing, type TemplateResult } from 'lit-html';
import { shippedFiles } from '../model/page/shipped_files';
import type { ModelInfo, ToModel } from '../model/shared/protocol';
import { button } from '../../ui/lit/controls';
import type { Figure } from '../../ui/export_figure';
import { LitPanel } from '../lit_panel';
import type { View } from '../panel';
import { t } from './feature';
import { cutsView, edgeWithin, toggled } from './page/cuts_view';
import { microscopeFigure } from './page/figure';
import { mapTable, type Cell } from './page/map_table';
import { PassPart } from './page/pass_part';
import { differencesOf, measureView, promptsView } from './page/prompts_view';
import { sharesView } from './page/shares_view';
import type { CutEdge, CutHead, MapSite, Maps, Prompts } from './shared/protocol';
import { readyPair } from './shared/ready_pairs';
import { cutsIn, cutsOrNone, microscopeAsk, OTHER_MODEL } from './state';

/** The model that the panel offers: small, and its pair of prompts works. */
const OFFERED = 'names';
/** Larger than any place: the last token reads the first until the reader chooses. */
const LAST = 1e6;

const askOf = (state: View['state'], { name, tokenizer }: ModelInfo) =>
  microscopeAsk(state, readyPair(name, tokenizer !== 'none'));

/** Takes the loaded model apart on two prompts: what causes the answer, what gives how much to it, and what it is without a part. */
class MicroscopePanel extends LitPanel {
  override readonly followsModel = true;
  /** The last request to the model that is there. */
  #requested = '';
  /** The model that was there last. */
  #model: number | null = null;
  /** The cell of each map that is described. */
  readonly #shown = new Map<MapSite, Cell>();
  /** The edge that the selects show. */
  #edge: CutEdge = [0, 0, LAST, 0];

  protected inputs({ model, state, look }: View): readonly unknown[] {
    const { microscopeClean, microscopeCorrupt, microscopeAnswer, microscopeInstead } = state;
    return [
      ...[model.info, model.loading !== null, model.microscope, look],
      ...[microscopeClean, microscopeCorrupt, microscopeAnswer, microscopeInstead],
      ...[state.microscopeHeads, state.microscopeEdges],
      ...[state.microscopeZoom, state.microscopeAt],
    ];
  }

  protected render(view: View): TemplateResult {
    const { info, microscope } = view.model;
    if (!info) return this.#offer(view);
    if (!info.speaks) return html`<p class="placeholder">${t('microscope.silent')}</p>`;
    const { prompts, shares, failure } = microscope;
    const change = this.change.bind(this);
    const { heads } = cutsIn(view.state);
    return html`
      <div class="card microscope-card">
        <h3>${t('microscope.promptsTitle')}</h3>
        <p class="hint">${t('microscope.promptsIntro')}</p>
        ${promptsView(askOf(view.state, info), prompts, change)}
        ${measureView(prompts, change)}
        <p class="failure" role="alert" ?hidden=${!failure}>${failure && t('microscope.failed', { message: failure.message })}</p>
      </div>
      <div class="card microscope-card" ?hidden=${microscope.pass === null}>
        <h3>${t('microscope.passTitle')}</h3>
        <p class="hint">${t('microscope.passIntro')}</p>
        <qkv-microscope-pass></qkv-microscope-pass>
      </div>
      <div class="card microscope-card">
        <h3>${t('microscope.mapsTitle')}</h3>
        <p class="hint">${t('microscope.mapsIntro')}</p>
        ${this.#maps(view, prompts, microscope.maps)}
      </div>
      <div class="microscope-pair">
        <div class="card microscope-card">
          <h3>${t('microscope.sharesTitle')}</h3>
          <p class="hint">${t('microscope.sharesIntro')}</p>
          ${shares ? sharesView(shares, heads, this.#cutHead(view)) : nothing}
        </div>
        <div class="card microscope-card">
          <h3>${t('microscope.cutTitle')}</h3>
          <p class="hint">${t('microscope.cutIntro')}</p>
          ${prompts && prompts.clean.ids.length > 0 ? this.#cuts(view, info, prompts) : nothing}
        </div>
      </div>`;
  }

  /** Before there is a model: a button for one. */
  #offer({ model }: View): TemplateResult {
    const files = shippedFiles(OFFERED);
    const load = () => files && this.#tell({ kind: 'load', files });
    const isLoading = model.loading !== null;
    const key = isLoading ? 'loading' : files ? 'none' : 'outside';
    return html`<div class="card microscope-card">
      <p role="status">${t(`microscope.${key}`)}</p>
      <div class="buttons" ?hidden=${!files}><button type="button" class="button" data-do="load" ?disabled=${isLoading} @click=${load}>${t('microscope.load')}</button></div>
    </div>`;
  }

  #maps(view: View, prompts: Prompts | null, maps: Maps | null): TemplateResult {
    const isRunning = maps?.running ?? false;
    const isReady = prompts?.answer && prompts.problem === null;
    const press = isRunning
      ? button('maps', t('microscope.stop'), () => this.#tell({ kind: 'stop-maps' }))
      : html`<button type="button" class="button maps" ?disabled=${!isReady} @click=${() => this.#tell({ kind: 'maps' })}>${t('microscope.compute')}</button>`;
    const progress = html`<label><span>${maps && t(isRunning ? 'microscope.progress' : 'microscope.done', { done: maps.done, of: maps.of })}</span>
      <progress max=${Math.max(1, maps?.of ?? 0)} value=${maps?.done ?? 0}></progress></label>`;
    return html`
      <div class="microscope-controls">${press}${maps ? progress : nothing}</div>
      ${prompts && maps && maps.maps.length > 0 ? this.#tables(view, prompts, maps) : nothing}`;
  }

  #tables(view: View, prompts: Prompts, { maps }: Maps): TemplateResult {
    const differs = differencesOf(prompts);
    return html`
      <p class="microscope-legend hint"><span data-sign="more"><i></i>${t('microscope.towards')}</span>
        <span data-sign="less"><i></i>${t('microscope.away')}</span> ${t('microscope.legend')}</p>
      <div class="microscope-maps">${maps.map((map) => {
        const { site } = map;
        return html`<div>${mapTable({
          ...{ map, differs, labels: prompts.clean.labels, cut: cutsIn(view.state).heads },
          shown: this.#shown.get(site) ?? null,
          show: (cell) => this.#show(site, cell),
          press: this.#cutHead(view),
        })}</div>`;
      })}</div>`;
  }

  #show(site: MapSite, cell: Cell): void {
    if (this.#shown.get(site)?.join() === cell.join()) return;
    this.#shown.set(site, cell);
    this.refresh();
  }

  #cuts({ state, model }: View, info: ModelInfo, { clean }: Prompts): TemplateResult {
    const size = [info.numLayers, info.numHeads] as const;
    const { causal } = info;
    return cutsView({
      ...{ labels: clean.labels, size, causal, cut: model.microscope.cut },
      ...cutsIn(state),
      edge: edgeWithin(this.#edge, { count: clean.ids.length, size, causal }),
      choose: (edge) => {
        this.#edge = edge;
        this.refresh();
      },
      setHeads: (heads) => this.change({ microscopeHeads: cutsOrNone(heads) }),
      setEdges: (edges) => this.change({ microscopeEdges: cutsOrNone(edges) }),
    });
  }

  #cutHead =
    ({ state }: View) =>
    (head: CutHead): void =>
      this.change({ microscopeHeads: cutsOrNone(toggled(cutsIn(state).heads, head)) });

  override update(view: View): void {
    super.update(view);
    this.querySelector<PassPart>('qkv-microscope-pass')?.update(view);
  }

  /** A model that is there gets one request for each state. */
  protected override rendered({ state, model: { info } }: View): void {
    const ask = info?.speaks ? askOf(state, info) : null;
    const key = ask ? JSON.stringify([info?.id, ask]) : '';
    if (key === this.#requested) return;
    this.#requested = key;
    if (ask) this.#tell({ kind: 'microscope', ask });
    this.#begin(state, info);
  }

  /** What was chosen of a model before this one means nothing in it; of a link it is kept. */
  #begin(state: View['state'], info: ModelInfo | null): void {
    const before = this.#model;
    this.#model = info?.id ?? before;
    if (before === null || before === this.#model) return;
    const names = Object.keys(OTHER_MODEL) as readonly (keyof typeof OTHER_MODEL)[];
    if (names.some((name) => state[name] !== null)) this.change(OTHER_MODEL);
  }

  #tell(message: ToModel): void {
    this.dispatchEvent(new CustomEvent('model-tell', { bubbles: true, detail: message }));
  }

  override figure({ model }: View): Promise<Figure | null> {
    return Promise.resolve(microscopeFigure(model.microscope));
  }
}

customElements.define('qkv-microscope-pass', PassPart);
customElements.define('qkv-panel-microscope', MicroscopePanel);
