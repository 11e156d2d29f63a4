import { homeOf } from '../domain/animals';
import { EngineClient, type EngineStatus } from '../worker/client';
import type { Studies } from '../features/computed';
import type { Frame, Report } from '../worker/protocol';
import type { Size } from '../domain/pixels';
import { defaultText, setLanguage, t, translate, type Language } from '../i18n/i18n';
import { forgetPalette, palette } from '../ui/matrix/palette';
import { countOf } from '../domain/number_sets';
import { median } from '../domain/averages';
import { Panel, type View } from '../features/panel';
import type { PanelId } from '../features/index';
import { loadLanguage } from '../features/load';
import { foldLaboratories, withPlaceOpen } from './laboratories';
import { TopPanel } from './header';
import { keepInSight } from './keep_in_sight';
import { requestOf } from './request';
import { TrainedModel } from './trained_model';
import type { FromModel, ModelInfo, ToModel } from '../features/model/shared/protocol';
import { namedAs } from '../features/model/state';
import { readAddress } from '../features/lessons/page/lesson_address';
import type { Hold } from '../features/lessons/page/page_api';
import {
  formatFragment,
  PLACES,
  readFragment,
  type LinkProblem,
  type Place,
  type State,
} from '../state/state';
import { applyTheme, onAppearanceChange, storedTheme, type Theme } from '../ui/theme';
import { tokenize, type TokenList } from '../domain/tokenizer';

/** Frames whose times make the median that is shown. */
const TIMES = 60;
/** The first frames run code that is still being compiled. */
const WARM_UP = 4;

const browserLanguage = (): Language => (/^zh\b/i.test(navigator.language) ? 'zh' : 'en');

/** What the tokens follow from: splitting a long text at every step of a slider would be felt. */
const TOKENS_FROM = ['text', 'tokenizer', 'length', 'source', 'numbers'] as const;

function tokensOf(
  { text, tokenizer, length, source, numbers }: State,
  trained: TokenList,
): TokenList {
  if (source === 'trained') return trained;
  if (source !== 'yours') return tokenize(text, tokenizer, length);
  const count = countOf(numbers);
  const tokens = Array.from({ length: count }, (_, i) => `x${i + 1}`);
  return { tokens, own: count, total: count, textCut: false };
}

/** Holds the state, asks the worker for frames and has the panels drawn, once per screen frame. */
export class App {
  #state: State;
  #linkProblem: LinkProblem | null;
  /** No longer keeps the place in sight that a link led to. */
  #letGo: () => void = () => undefined;
  #list: TokenList;
  #engine: EngineStatus = { kind: 'loading' };
  #frame: Frame | null = null;
  #report: Report | null = null;
  #studies: Studies = { temperature: null, scale: null };
  #times: number[] = [];
  #theme: Theme = storedTheme();
  #look = 0;
  /** The row under the crosshair of the map; null: the query. */
  #described: number | null = null;
  /** Whether a hand is on the temperature. */
  #dragging = false;
  #scheduled = false;
  #scheduledModel = false;
  /** Languages whose texts are on their way. */
  #translating = 0;
  #fragmentTimer = 0;
  /** How often a whole state has replaced another: with a link that was followed, or a step of a lesson. */
  #begun = 0;
  /** The surfaces of the latest request. */
  #requested = '';
  readonly #visible = new Set<Element>();
  /** Of an open lesson: what it allows, and what the address says instead of the state. */
  hold: Hold | null = null;

  readonly client = new EngineClient({
    onStatus: (status) => {
      this.#engine = status;
      if (status.kind === 'failed' && status.during === 'load') this.#trained.lose();
      this.#schedule();
    },
    onFrame: (frame) => {
      this.#frame = frame;
      if (frame.id > WARM_UP) this.#times = [...this.#times.slice(1 - TIMES), frame.time];
      this.#schedule();
    },
    onReport: (report) => {
      this.#report = report;
      this.#schedule();
    },
    onStudies: (news) => {
      this.#studies = { ...this.#studies, ...news };
      this.#schedule();
    },
    onModel: (message) => this.#onModel(message),
  });
  readonly #trained = new TrainedModel((message) => this.client.tell(message));

  constructor() {
    const language = readAddress(location.search, location.hash)?.language ?? browserLanguage();
    const { state, problem } = readFragment(location.hash, language);
    [this.#state, this.#linkProblem] = [withPlaceOpen(state), problem];
    this.#list = tokensOf(this.#state, this.#trained.tokens);
    applyTheme(this.#theme);
    this.#applyLanguage();
    this.#listen();
  }

  /** To be called when the panels of the first view are defined. */
  start(): void {
    this.client.palette = palette().paint;
    this.#draw();
    this.client.start();
    this.request();
    this.#goTo(this.#state.panel);
  }

  #listen(): void {
    const on = (name: string, act: (detail: never) => void) => {
      document.addEventListener(name, (event) => act((event as CustomEvent<never>).detail));
    };
    on('state-change', (patch: Partial<State>) => this.set(patch));
    on('canvas-given', ({ name, canvas }: { name: string; canvas: HTMLCanvasElement }) => {
      this.client.give(name, canvas);
    });
    on('model-tell', (message: ToModel) => {
      this.#trained.tell(message, this.#state);
      this.#schedule();
    });
    on('surface-resized', () => this.request());
    on('row-described', (row: number | null) => {
      this.#described = row;
      this.request();
    });
    on('temperature-held', (held: boolean) => {
      this.#dragging = held;
      this.request();
    });
    on('engine-retry', () => {
      this.client.start();
      this.request();
    });
    on('link-note-read', () => {
      this.#linkProblem = null;
      this.#schedule();
    });
    on('theme-change', (theme: Theme) => {
      this.#theme = theme;
      this.#applyTheme();
    });
    onAppearanceChange(() => this.#applyTheme());
    window.addEventListener('hashchange', () => this.#followLink());
  }

  #followLink(): void {
    clearTimeout(this.#fragmentTimer); // another address counts now
    const bare = location.hash.slice(1);
    if (bare !== '' && !bare.startsWith('v=')) {
      // The browser goes to an anchor by itself; but its name says nothing of the state, which a reload would lose.
      const place = PLACES.find((id) => id === bare) ?? null;
      if (place && !this.hold) this.#goToAnchor(place);
      this.#writeAddress(place);
      return;
    }
    if (this.hold && bare === '') return;
    if (readAddress(location.search, location.hash)) return; // a lesson brings its states itself
    const { state, problem } = readFragment(location.hash, this.#state.language);
    if (problem || this.#linkProblem) this.#schedule();
    this.#linkProblem = problem;
    if (formatFragment(state) === formatFragment(this.#state)) this.#begun++;
    else this.#become(withPlaceOpen(state), () => this.#goTo(state.panel));
  }

  #goTo(place: Place | null): void {
    this.#letGo();
    const element = place && document.getElementById(place);
    if (element) this.#letGo = keepInSight(element);
  }

  /** To a panel in a laboratory that is closed, a browser goes only when it is open. */
  #goToAnchor(panel: Place): void {
    const { opened } = withPlaceOpen({ ...this.#state, panel });
    if (opened !== this.#state.opened) this.#adopt({ ...this.#state, opened });
    this.#goTo(panel);
  }

  /** Changes some of the state; the link follows when things have come to rest. */
  set(patch: Partial<State>): void {
    const allowed = this.hold?.allow(patch) ?? patch;
    const begun = this.#begun;
    this.#whenReadable(allowed.language ?? this.#state.language, () => {
      // A link that was followed, or a lesson that was begun, while the texts were on their way counts.
      if (begun === this.#begun) this.#change(allowed);
    });
  }

  /** Another state from its beginning, as a step of a lesson has it. */
  begin(state: State): void {
    this.#become(state, () => undefined);
  }

  /** All of another state, unless a later one has come by the time its texts are there. */
  #become(state: State, then: () => void): void {
    const begun = ++this.#begun;
    this.#whenReadable(state.language, () => {
      if (begun !== this.#begun) return;
      this.#adopt(state);
      then();
    });
  }

  #change(patch: Partial<State>): void {
    const { text, language } = this.#state;
    // An example nobody has touched changes with the language; a text of one's own does not.
    const translated =
      patch.language && text === defaultText(language)
        ? { text: defaultText(patch.language), query: null }
        : {};
    this.#adopt({ ...this.#state, panel: null, ...translated, ...patch });
    this.#writeAddress(null);
  }

  /**
   * Puts the state, or the open lesson, into the address; browsers refuse hundreds of changes of it in a row. A link may have been
   * followed since, of which `hashchange` has yet to tell: over that nothing is written.
   */
  #writeAddress(panel: State['panel']): void {
    clearTimeout(this.#fragmentTimer);
    const { href } = location;
    this.#fragmentTimer = window.setTimeout(() => {
      if (location.href !== href) return;
      // Back to a place goes there, however the page above it has grown since.
      history.scrollRestoration = panel ? 'manual' : 'auto';
      history.replaceState(null, '', location.search + this.#fragment(panel, true));
    }, 300);
  }

  /** The address of this state, for sharing, whatever the address bar says at the moment. */
  link(panel: State['panel'] = null, search = ''): string {
    // A file has no origin to begin with.
    const page = location.href.replace(/[?#].*/, '');
    // A panel alone has its state, also when it stands in a lesson.
    return page + search + this.#fragment(panel, panel === null && search === '');
  }

  #fragment(panel: State['panel'], whole: boolean): string {
    const lesson = whole ? this.hold?.fragment() : undefined;
    return lesson ?? formatFragment({ ...this.#state, panel });
  }

  #adopt(state: State): void {
    const before = this.#state;
    this.#state = state;
    const differs = TOKENS_FROM.some((name) => state[name] !== before[name]);
    if (state.opened !== before.opened) foldLaboratories(state.opened ?? []);
    this.#trained.follow(state);
    if (differs) this.#list = tokensOf(state, this.#trained.tokens);
    if (state.language !== before.language) this.#applyLanguage();
    // Other tokens have another geometry: it is there before the request to the worker, who need not paint twice.
    if (differs) this.#layOut();
    else this.#schedule();
    this.request();
  }

  /** Another model, or another text of it, are other tokens for the panels that show its heads. */
  #onModel(message: FromModel): void {
    const before = this.#trained.tokens.tokens;
    this.#trained.receive(message);
    if (message.kind === 'loaded') this.#nameModel(message.info);
    const { tokens } = this.#trained;
    if (
      this.#state.source === 'trained' &&
      (message.kind === 'loaded' || tokens.tokens !== before)
    ) {
      this.#list = tokens;
      this.#layOut();
      this.request();
    } else if (message.kind === 'answers' || message.kind === 'loaded') {
      this.#schedule();
    } else {
      this.#scheduleModel();
    }
  }

  /** The state names the model that is there, whichever it named before. */
  #nameModel(info: ModelInfo): void {
    const named = namedAs(info);
    const { model, modelFile } = this.#state;
    if (named.model === model && named.modelFile === modelFile) return;
    this.#state = { ...this.#state, ...(this.hold?.allow(named) ?? named) };
    this.#writeAddress(null);
  }

  /** What comes many times in a second is drawn by those panels alone that follow it. */
  #scheduleModel(): void {
    if (this.#scheduled || this.#scheduledModel) return;
    this.#scheduledModel = true;
    requestAnimationFrame(() => {
      this.#scheduledModel = false;
      const view = this.view();
      for (const panel of this.#panels()) if (panel.followsModel) panel.update(view);
    });
  }

  /** Acts when the panels that are there have their texts in this language. If one does not arrive, nothing changes, and the header says so. */
  #whenReadable(language: Language, act: () => void): void {
    if (language === this.#state.language) {
      act();
      return;
    }
    this.#translating++;
    const arrived = loadLanguage(language).finally(() => this.#translating--);
    void arrived.then(act, (error: unknown) => {
      console.error(error);
      const top = document.querySelector('qkv-top');
      if (top instanceof TopPanel) top.sayNotLoaded(); // the reader may ask again
    });
  }

  #applyLanguage(): void {
    const { language } = this.#state;
    setLanguage(language);
    this.#look++;
    forgetPalette(); // the font may be another
    document.documentElement.lang = language === 'zh' ? 'zh-CN' : 'en';
    document.title = t('page.title');
    translate(document);
  }

  #applyControls(): void {
    document.documentElement.classList.toggle('no-controls', !this.#state.controls);
  }

  #applyTheme(): void {
    applyTheme(this.#theme);
    forgetPalette();
    this.#look++;
    this.client.palette = palette().paint;
    this.request();
    this.#schedule();
  }

  // ---- panels ----

  get language(): Language {
    return this.#state.language;
  }

  /** Only panels on the screen have their canvases painted. */
  show(section: Element, visible: boolean): void {
    const wanted = visible || this.hold?.panels.has(section.id) === true;
    if (wanted === this.#visible.has(section)) return;
    if (wanted) this.#visible.add(section);
    else this.#visible.delete(section);
    this.request();
  }

  /** Whether everything that was requested is answered and drawn. */
  get settled(): boolean {
    const { atRest } = this.#trained;
    return this.client.atRest && atRest && !this.#scheduled && this.#translating === 0;
  }

  /** Whether a panel is on the screen, and its code there. */
  sees(id: PanelId): boolean {
    const panel = document.querySelector(`qkv-panel-${id}`);
    const section = panel?.closest('section');
    return panel instanceof Panel && !!section && this.#visible.has(section);
  }

  /** A panel that has just been defined is drawn with the next frame. */
  panelAdded(): void {
    this.request();
    this.#schedule();
  }

  *#panels(): Generator<Panel> {
    for (const element of document.querySelectorAll('[data-panel]')) {
      if (element instanceof Panel) yield element;
    }
  }

  #surfaces(): Record<string, Size> {
    const all: Record<string, Size> = {};
    for (const panel of this.#panels()) {
      const section = panel.closest('section');
      if (section && this.#visible.has(section)) Object.assign(all, panel.surfaces());
    }
    return all;
  }

  request(): void {
    const surfaces = this.#surfaces();
    this.#requested = JSON.stringify(surfaces);
    const request = requestOf(this.#state, this.#list.tokens, {
      query: this.view().query,
      described: this.#described,
      dragging: this.#dragging,
      sees: (id) => this.sees(id),
      surfaces,
      ratio: devicePixelRatio,
      trained: this.#trained,
    });
    this.client.request(request);
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    requestAnimationFrame(() => {
      this.#scheduled = false;
      this.#draw();
    });
  }

  view(): View {
    const { query } = this.#state;
    const { tokens, own } = this.#list;
    const home = homeOf(tokens.slice(0, own));
    return {
      state: this.#state,
      list: this.#list,
      engine: this.#engine,
      frame: this.#frame,
      report: this.#report,
      studies: this.#studies,
      model: this.#trained.view,
      heads: { source: this.#state.source, trainedHeads: this.#trained.heads },
      frameTime: median(this.#times),
      query: Math.min(query ?? home, tokens.length - 1),
      look: this.#look,
      theme: this.#theme,
      linkProblem: this.#linkProblem,
    };
  }

  #layOut(): void {
    const view = this.view();
    this.#applyControls();
    foldLaboratories(this.#state.opened ?? []);
    for (const panel of this.#panels()) panel.update(view);
  }

  #draw(): void {
    this.#layOut();
    // What was drawn may have brought canvases onto the screen, or taken them away.
    if (JSON.stringify(this.#surfaces()) !== this.#requested) this.request();
  }
}
