/** What shows that the reader wants to be elsewhere. */
const HANDS = ['wheel', 'touchstart', 'pointerdown', 'keydown'] as const;
/** After so long without another panel the page has all of them, in milliseconds. */
const REST = 3000;

/**
 * Scrolls to a section and, as panels above it are still growing while they arrive, keeps it in place until a hand stirs, something else
 * scrolls (a scroll bar, a search in the page, assistive technology), or nothing grows any more. Returns what ends it.
 */
export function keepInSight(section: Element): () => void {
  const hands = new AbortController();
  let timer = 0;
  const where = () => ({ page: scrollY, section: section.getBoundingClientRect().top });
  /** Null until it has scrolled for the first time: what scrolled before is reported later. */
  let at: ReturnType<typeof where> | null = null;
  const end = () => {
    clearTimeout(timer);
    grown.disconnect();
    hands.abort();
  };
  const grown = new ResizeObserver(() => {
    section.scrollIntoView();
    at = where();
    clearTimeout(timer);
    timer = window.setTimeout(end, REST);
  });
  const listen = (name: string, act: () => void) => {
    window.addEventListener(name, act, { passive: true, signal: hands.signal });
  };
  for (const name of HANDS) listen(name, end);
  listen('scroll', () => {
    if (!at) return;
    const now = where();
    // What grows above moves the section, and a browser that makes up for it moves the page: who scrolls moves both.
    if (Math.abs(now.page - at.page) > 1 && Math.abs(now.section - at.section) > 1) end();
  });
  grown.observe(document.body);
  return end;
}
