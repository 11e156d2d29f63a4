import './styles/index.css';
import { find } from './dom';
import { EngineClient, type EngineStatus } from './engine/client';
import type { Frame } from './engine/protocol';
import { defaultText, setLanguage, t, translate, type Language } from './i18n';
import { forgetPalette } from './matrix/palette';
import { BarPanel } from './panels/bar';
import { ControlsPanel } from './panels/controls';
import { FailurePanel } from './panels/failure';
import { HeadsPanel } from './panels/heads';
import { MapPanel } from './panels/map';
import type { Panel, View } from './panels/panel';
import { PositionsPanel } from './panels/positions';
import { ReadingsPanel } from './panels/readings';
import { ReadoutPanel } from './panels/readout';
import { SentencePanel } from './panels/sentence';
import { RotationPanel } from './panels/rotation';
import { ShiftPanel } from './panels/shift';
import { UsagePanel } from './panels/usage';
import { formatFragment, initialState, parseFragment, type State } from './state';
import { applyTheme, onAppearanceChange, storedTheme, type Theme } from './theme';
import { tokenize, type TokenList } from './tokenizer';

/** The words of the two opening sentences whose row is told first. */
const FIRST_QUERY = /^(it|它)$/;

const panel = <P extends Panel>(name: string, type: new () => P) => find(document, name, type);

const browserLanguage = (): Language => (/^zh\b/i.test(navigator.language) ? 'zh' : 'en');

/** Holds the state, asks the worker for frames and has the panels drawn, once per screen frame. */
class App {
  #state: State;
  #list: TokenList;
  #engine: EngineStatus = { kind: 'loading' };
  #frame: Frame | null = null;
  #theme: Theme = storedTheme();
  #look = 0;
  #scheduled = false;
  #fragmentTimer = 0;

  readonly #bar = panel('qkv-bar', BarPanel);
  readonly #map = panel('qkv-map', MapPanel);
  readonly #readout = panel('qkv-readout', ReadoutPanel);
  readonly #positions = panel('qkv-positions', PositionsPanel);
  readonly #rotation = panel('qkv-rotation', RotationPanel);
  readonly #panels: readonly Panel[] = [
    this.#bar,
    panel('qkv-failure', FailurePanel),
    panel('qkv-sentence', SentencePanel),
    panel('qkv-controls', ControlsPanel),
    panel('qkv-heads', HeadsPanel),
    this.#map,
    panel('qkv-readings', ReadingsPanel),
    this.#positions,
    this.#rotation,
    panel('qkv-shift', ShiftPanel),
    panel('qkv-usage', UsagePanel),
  ];

  readonly #client = new EngineClient({
    onStatus: (status) => {
      this.#engine = status;
      this.#schedule();
    },
    onFrame: (frame) => {
      this.#frame = frame;
      this.#schedule();
    },
  });

  constructor() {
    const language = browserLanguage();
    this.#state = parseFragment(location.hash, language) ?? initialState(language);
    this.#list = tokenize(this.#state.text);
    applyTheme(this.#theme);
    this.#applyLanguage();
    this.#listen();
    this.#draw();
    this.#client.start();
    this.#request();
  }

  #listen(): void {
    document.addEventListener('state-change', (event) => {
      this.set((event as CustomEvent<Partial<State>>).detail);
    });
    document.addEventListener('cell-shown', () => this.#drawShown());
    document.addEventListener('engine-retry', () => {
      this.#client.start();
      this.#request();
    });
    document.addEventListener('theme-change', (event) => {
      this.#theme = (event as CustomEvent<Theme>).detail;
      this.#applyTheme();
    });
    onAppearanceChange(() => this.#applyTheme());
    window.addEventListener('hashchange', () => {
      const state = parseFragment(location.hash, this.#state.language);
      if (state && formatFragment(state) !== formatFragment(this.#state)) this.#adopt(state);
    });
  }

  /** Changes some of the state; the link follows when things have come to rest. */
  set(patch: Partial<State>): void {
    const { text, language } = this.#state;
    // An example nobody has touched changes with the language; a text of one's own does not.
    const translated =
      patch.language && text === defaultText(language)
        ? { text: defaultText(patch.language), query: null }
        : {};
    this.#adopt({ ...this.#state, ...translated, ...patch });
    // Browsers refuse hundreds of changes of the address in a row.
    clearTimeout(this.#fragmentTimer);
    this.#fragmentTimer = window.setTimeout(() => {
      history.replaceState(null, '', formatFragment(this.#state));
    }, 300);
  }

  #adopt(state: State): void {
    const before = this.#state;
    this.#state = state;
    if (state.text !== before.text) this.#list = tokenize(state.text);
    if (state.language !== before.language) this.#applyLanguage();
    this.#request();
    this.#schedule();
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

  #applyTheme(): void {
    applyTheme(this.#theme);
    forgetPalette();
    this.#look++;
    this.#schedule();
  }

  #request(): void {
    const { positions, causal, temperature, seed, shift } = this.#state;
    const { tokens } = this.#list;
    this.#client.request({ tokens, positions, causal, temperature, seed, shift });
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    requestAnimationFrame(() => {
      this.#scheduled = false;
      this.#draw();
    });
  }

  #view(): View {
    const { text, query, language } = this.#state;
    const { tokens } = this.#list;
    const chosen =
      text === defaultText(language) ? tokens.findIndex((w) => FIRST_QUERY.test(w)) : -1;
    const home = chosen >= 0 ? chosen : tokens.length - 1;
    return {
      state: this.#state,
      list: this.#list,
      engine: this.#engine,
      frame: this.#frame,
      query: Math.min(query ?? home, tokens.length - 1),
      shown: this.#map.matrix.shown,
      place: this.#positions.matrix.shown,
      look: this.#look,
    };
  }

  #draw(): void {
    const view = this.#view();
    for (const each of this.#panels) each.update(view);
    this.#bar.showTheme(this.#theme);
    this.#drawShown();
  }

  #drawShown(): void {
    const view = this.#view();
    this.#map.updateShown(view);
    this.#readout.update(view);
    this.#positions.updateShown(view);
    this.#rotation.updateShown(view);
  }

  /** For tests and the curious: the numbers behind the pixels. */
  snapshot() {
    const { frame, state, engine, list, query, shown, place } = this.#view();
    return { state, engine, tokens: list.tokens, total: list.total, query, shown, place, frame };
  }
}

const app = new App();

declare global {
  interface Window {
    __qkv: {
      snapshot: () => ReturnType<App['snapshot']>;
      set: (patch: Partial<State>) => void;
      parseFragment: typeof parseFragment;
      formatFragment: typeof formatFragment;
    };
  }
}

window.__qkv = {
  snapshot: () => app.snapshot(),
  set: (patch: Partial<State>) => app.set(patch),
  parseFragment,
  formatFragment,
};
