export const THEMES = ['auto', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const KEY = 'qkv-theme';

/** The reader's own choice; it belongs to the reader, not to a link. */
export function storedTheme(): Theme {
  try {
    return THEMES.find((theme) => theme === localStorage.getItem(KEY)) ?? 'auto';
  } catch {
    return 'auto'; // storage can be forbidden
  }
}

export function applyTheme(theme: Theme): void {
  const system = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
  document.documentElement.dataset['theme'] = theme === 'auto' ? system : theme;
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // Then it lasts as long as the page.
  }
}

/** Calls back when the colours on the page change without us: dark mode, high contrast, zoom. */
export function onAppearanceChange(callback: () => void): void {
  for (const query of ['(prefers-color-scheme: dark)', '(forced-colors: active)']) {
    matchMedia(query).addEventListener('change', callback);
  }
  const watchRatio = () => {
    matchMedia(`(resolution: ${devicePixelRatio}dppx)`).addEventListener(
      'change',
      () => {
        callback();
        watchRatio();
      },
      { once: true },
    );
  };
  watchRatio();
}
