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
