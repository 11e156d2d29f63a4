import { t, type Language } from '../i18n';
import { digits, duration } from '../numbers';
import { THEMES, type Theme } from '../theme';
import { Panel, type View } from './panel';

/** Always in sight: where the weights come from, whether the engine runs, language and theme. */
export class BarPanel extends Panel {
  #language: Language = 'en';
  #theme: Theme = 'auto';

  protected template(): string {
    return `
      <span class="brand">qkv</span>
      <span class="badge"></span>
      <span class="engine">
        <span class="dot" aria-hidden="true"></span><span class="engine-text"></span>
      </span>
      <span class="visually-hidden engine-status" role="status"></span>
      <button type="button" class="bar-button language"></button>
      <button type="button" class="bar-button theme">
        <svg viewBox="0 0 24 24" width="18" height="18" aria-hidden="true">
          <circle cx="12" cy="12" r="8" fill="none" stroke="currentColor" stroke-width="2"/>
          <path class="half" d="M12 4a8 8 0 0 1 0 16z" fill="currentColor"/>
          <circle class="full" cx="12" cy="12" r="8" fill="currentColor"/>
        </svg>
      </button>`;
  }

  protected override ready(): void {
    this.find('.language', HTMLElement).addEventListener('click', () => {
      this.change({ language: this.#language === 'en' ? 'zh' : 'en' });
    });
    this.find('.theme', HTMLElement).addEventListener('click', () => {
      const next = THEMES[THEMES.indexOf(this.#theme) + 1] ?? 'auto';
      this.dispatchEvent(new CustomEvent('theme-change', { bubbles: true, detail: next }));
    });
  }

  update(view: View): void {
    const { state } = view;
    this.#language = state.language;
    this.setText('.badge', t('badge.random', { seed: state.seed }));
    const other = this.find('.language', HTMLElement);
    other.lang = state.language === 'en' ? 'zh-CN' : 'en';
    other.textContent = t('bar.otherLanguage');
    this.#showEngine(view);
  }

  showTheme(theme: Theme): void {
    this.#theme = theme;
    const button = this.find('.theme', HTMLElement);
    button.dataset['theme'] = theme;
    const names = {
      auto: 'bar.themeAuto',
      light: 'bar.themeLight',
      dark: 'bar.themeDark',
    } as const;
    button.setAttribute('aria-label', t(names[theme]));
    button.title = t(names[theme]);
  }

  #showEngine({ engine, frame }: View): void {
    this.dataset['engine'] = engine.kind;
    const names = { loading: 'bar.loading', ready: 'bar.ready', failed: 'bar.failed' } as const;
    let text = t(names[engine.kind]);
    // Only this is spoken: the numbers that follow change with every key.
    this.setText('.engine-status', text);
    if (engine.kind === 'ready' && frame && frame.request.tokens.length > 0) {
      const values = { time: duration(frame.timing.median), error: digits(frame.check.weights, 2) };
      text = t('bar.running', values);
    }
    this.setText('.engine-text', text);
  }
}

customElements.define('qkv-bar', BarPanel);
