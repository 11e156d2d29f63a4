import { t, type Language } from '../i18n/i18n';
import { writeAddress } from '../features/lessons/page/lesson_address';
import { THEMES, type Theme } from '../ui/theme';
import { provenance } from '../features/head_names';
import { Panel, type View } from '../features/panel';

const THEME_NAMES = {
  auto: 'bar.themeAuto',
  light: 'bar.themeLight',
  dark: 'bar.themeDark',
} as const;

/** The head of the page: its name, where the weights come from, and what concerns all of it. */
export class TopPanel extends Panel {
  #language: Language = 'en';
  #theme: Theme = 'auto';
  #controls = true;

  protected template(): string {
    return `
      <span class="brand">qkv</span>
      <span class="badge"></span>
      <a class="bar-button lessons" href="#v=1&amp;lesson=index" data-t="bar.lessons"></a>
      <button type="button" class="bar-button introduction">?</button>
      <button type="button" class="bar-button share" data-t="bar.share"></button>
      <button type="button" class="bar-button teacher"></button>
      <button type="button" class="bar-button language"></button>
      <button type="button" class="bar-button theme">
        <svg viewBox="0 0 24 24" width="18" height="18" aria-hidden="true">
          <circle cx="12" cy="12" r="8" fill="none" stroke="currentColor" stroke-width="2"/>
          <path class="half" d="M12 4a8 8 0 0 1 0 16z" fill="currentColor"/>
          <circle class="full" cx="12" cy="12" r="8" fill="currentColor"/>
        </svg>
      </button>
      <span class="visually-hidden" role="status"></span>`;
  }

  protected override ready(): void {
    const on = (selector: string, act: () => void) =>
      this.find(selector, HTMLElement).addEventListener('click', act);
    on('.language', () => this.change({ language: this.#language === 'en' ? 'zh' : 'en' }));
    on('.teacher', () => this.change({ controls: !this.#controls }));
    on('.share', () => this.dispatchEvent(new CustomEvent('share', { bubbles: true })));
    on('.introduction', () => {
      this.dispatchEvent(new CustomEvent('introduction-opened', { bubbles: true }));
    });
    on('.theme', () => {
      const next = THEMES[THEMES.indexOf(this.#theme) + 1] ?? 'auto';
      this.dispatchEvent(new CustomEvent('theme-change', { bubbles: true, detail: next }));
    });
  }

  update({ state, theme }: View): void {
    this.#language = state.language;
    this.#controls = state.controls;
    this.#theme = theme;
    this.setText('.badge', provenance(state.source, state.seed));
    const other = this.find('.language', HTMLElement);
    other.lang = state.language === 'en' ? 'zh-CN' : 'en';
    this.setText('.language', t('bar.otherLanguage'));
    const lessons = this.find('.lessons', HTMLAnchorElement);
    lessons.href = writeAddress({ name: null, code: null, step: 1 }, state.language);
    this.setText('.lessons', t('bar.lessons'));
    this.setText('.teacher', t(state.controls ? 'bar.hideControls' : 'bar.showControls'));
    const introduction = this.find('.introduction', HTMLElement);
    introduction.title = t('bar.introduction');
    introduction.setAttribute('aria-label', introduction.title);
    const button = this.find('.theme', HTMLElement);
    button.dataset['theme'] = theme;
    button.setAttribute('aria-label', t(THEME_NAMES[theme]));
    button.title = t(THEME_NAMES[theme]);
  }

  /** What became of the link. */
  say(text: string): void {
    this.#tell('.share', text, () => t('bar.share'));
  }

  /** The texts of the other language did not arrive. */
  sayNotLoaded(): void {
    this.#tell('.language', t('bar.notLoaded'), () => t('bar.otherLanguage'));
  }

  /** Says what became of what a button is for, and shows it on the button for two seconds. */
  #tell(button: string, text: string, label: () => string): void {
    this.setText(button, text);
    this.setText('[role=status]', text);
    setTimeout(() => this.setText(button, label()), 2000);
  }
}
