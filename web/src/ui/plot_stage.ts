import { pageSvg } from './plot';

/** What a stage shows. */
export interface Plot {
  readonly height: number;
  /** The plot in a sentence, for who cannot see it. */
  readonly label: string;
  readonly draw: (width: number) => string;
}

/** An element of the page with a plot, which is drawn again when the width of the element changes. */
export class PlotStage {
  readonly #element: HTMLElement;
  #plot: Plot | null = null;
  #width = 0;
  #drawn = '';

  constructor(element: HTMLElement) {
    this.#element = element;
    const resize = new ResizeObserver(() => {
      if (Math.round(element.clientWidth) !== this.#width) this.#draw();
    });
    resize.observe(element);
  }

  show(plot: Plot): void {
    this.#plot = plot;
    this.#draw();
  }

  clear(): void {
    this.#plot = null;
    this.#drawn = '';
    this.#element.replaceChildren();
  }

  /** An element without a width is not on the screen: what it shows is drawn when it has one. */
  #draw(): void {
    const width = Math.round(this.#element.clientWidth);
    this.#width = width;
    if (!this.#plot || width === 0) return;
    const { height, label, draw } = this.#plot;
    const drawing = pageSvg(width, height, draw(width));
    if (drawing !== this.#drawn) this.#element.innerHTML = drawing;
    this.#drawn = drawing;
    this.#element.firstElementChild?.setAttribute('aria-label', label);
  }
}

/** The stages below `root`, each under the name in its `data-figure`. */
export function plotStages<Name extends string>(
  root: ParentNode,
  names: readonly Name[],
): Readonly<Record<Name, PlotStage>> {
  const stageOf = (name: Name) => {
    const element = root.querySelector<HTMLElement>(`[data-figure=${name}]`);
    if (!element) throw new Error(`there is no place for the plot ${name}`);
    return [name, new PlotStage(element)] as const;
  };
  return Object.fromEntries(names.map(stageOf)) as Record<Name, PlotStage>;
}

/** The HTML of a stage. */
export const stageHtml = (name: string) => `<div class="plot-stage" data-figure="${name}"></div>`;

/** An entry of the key below a plot: its line and, of a curve with points, one of these; `words` is HTML. */
export const keyEntryHtml = (line: string, words: string, point = ''): string => `
  <li><svg width="30" height="12" aria-hidden="true"><path class="${line}" d="M0 6H30"/>${
    point && `<circle class="${point}" cx="15" cy="6" r="4"/>`
  }</svg>${words}</li>`;
