import { html, nothing, type TemplateResult } from 'lit-html';
import { options, withValue } from '../../../ui/lit/controls';
import type { Cell } from '../../../ui/matrix/cell';
import type { View } from '../../panel';
import { LitPanel } from '../../lit_panel';
import { t } from '../feature';
import type { WholePass, Zoom } from '../shared/protocol';
import { HeadView } from './head_view';
import { headText } from './names';
import { passPicture } from './pass_picture';
import { largestRow, passRows, type PassRow } from './pass_rows';
import { passTable } from './pass_table';
import { ZoomGestures, zoomedIn, zoomedOut, zoomOrNone, zoomWithin } from './zoom';

const within = (target: EventTarget | null, name: 'row' | 'at'): number | null => {
  const value = (target as Element | null)?.closest<SVGElement>(`[data-${name}]`)?.dataset[name];
  return value === undefined ? null : Number(value);
};

/** Where a key leads: into the row, out of it, to the row above or below, to the token before or after. */
const KEYS: Readonly<Record<string, readonly ['zoom' | 'row' | 'token', number]>> = {
  ...{ '+': ['zoom', 1], '=': ['zoom', 1], '-': ['zoom', -1], _: ['zoom', -1] },
  ...{ Escape: ['zoom', -1], ArrowUp: ['row', 1], ArrowDown: ['row', -1] },
  ...{ ArrowLeft: ['token', -1], ArrowRight: ['token', 1] },
};

/** The pass over the clean prompt as one picture: the whole model, a layer of it, or a head of that. */
export class PassPart extends LitPanel {
  #width = 0;
  readonly #resize = new ResizeObserver(([entry]) => {
    const width = Math.round(entry?.contentRect.width ?? 0);
    if (width === this.#width) return;
    this.#width = width;
    this.refresh();
  });
  readonly #gestures = new ZoomGestures();
  readonly #heads = new HeadView(this);
  #pass: WholePass | null = null;
  #zoom: Zoom = [];
  #rows: readonly PassRow[] = [];
  /** The row that was pointed at or moved to; null: the one that gives most. */
  #row: number | null = null;
  /** The row that is left by a step back, which is the one that is pointed at then. */
  #left: number | null = null;
  /** Whether the focus goes along with the next zoom. */
  #leads = false;

  protected inputs({ model, state, look }: View): readonly unknown[] {
    return [model.info, model.microscope.pass, state.microscopeZoom, look];
  }

  protected override ready(): void {
    this.#resize.observe(this);
    this.addEventListener('keydown', (event) => this.#onKey(event));
    this.addEventListener('cell-shown', () => this.refresh());
  }

  protected render({ model: { info, microscope }, state }: View): TemplateResult {
    const pass = (this.#pass = microscope.pass);
    if (!pass || !info) return html``;
    const zoom = zoomWithin(state.microscopeZoom ?? [], [info.numLayers, info.numHeads]);
    if (zoom.join() !== this.#zoom.join()) this.#zoomed(zoom);
    this.#rows = passRows(pass, zoom);
    const focused = Math.min(this.#row ?? largestRow(this.#rows), this.#rows.length - 1);
    const picture = { pass, zoom, rows: this.#rows, width: this.#width, focused };
    const row = this.#rows[focused];
    return html`
      ${this.#tools(pass, zoom)}
      <div class="pass-stage" @click=${this.#onClick} @wheel=${this.#onWheel} @pointermove=${this.#onPoint} @focusin=${this.#onPoint}
        @touchstart=${this.#onTouch} @touchend=${this.#onTouch} @touchmove=${this.#onPinch}>${this.#width > 0 ? passPicture(picture) : nothing}</div>
      <p class="pass-described" role="status">${row?.says}</p>
      <p class="hint">${t('microscope.passKeys')}</p>
      ${this.#heads.render(pass, zoom)}
      ${passTable(pass, zoom)}`;
  }

  /** Where one is, and what leads elsewhere. */
  #tools({ labels, at }: WholePass, zoom: Zoom): TemplateResult {
    const [layer, head] = zoom;
    const tokens = labels.map((label, i) => [String(i), `${i} ${label}`] as const);
    const places: readonly (readonly [Zoom, string])[] = [
      [[], t('microscope.pass.whole')],
      ...(layer === undefined ? [] : [[[layer], t('microscope.layer', { layer })] as const]),
      ...(layer === undefined || head === undefined
        ? []
        : [[[layer, head], t('microscope.head', { name: headText([layer, head]) })] as const]),
    ];
    const crumb = ([place, words]: readonly [Zoom, string], i: number) => html`
      <li>${i > 0 ? html`<span aria-hidden="true">›</span>` : nothing}<button type="button" class="button" data-zoom=${place.join('.')}
        aria-current=${i === places.length - 1 ? 'location' : nothing} @click=${() => this.#goTo(place)}>${words}</button></li>`;
    return html`<div class="microscope-controls pass-tools">
      <nav aria-label=${t('microscope.pass.where')}><ol class="pass-path">${places.map(crumb)}</ol></nav>
      <span class="buttons">${this.#zoomButton('out', zoom.length === 0)}${this.#zoomButton('in', zoom.length === 2)}</span>
      <label class="minus" data-control><span>${t('microscope.pass.token')}</span>
        <select id="microscope-at" @change=${withValue((value) => this.#choose(Number(value)))}>${options(tokens, String(at))}</select></label>
    </div>`;
  }

  /** It keeps the focus where it leads nowhere. */
  #zoomButton(direction: 'in' | 'out', isIdle: boolean): TemplateResult {
    const press = () => this.#step(direction);
    return html`<button type="button" class="button" data-do="zoom-${direction}" aria-disabled=${isIdle} @click=${press}>${t(`microscope.pass.${direction}`)}</button>`;
  }

  // ---- where one is ----

  /** Another place is shown, by whomever. */
  #zoomed(zoom: Zoom): void {
    [this.#row, this.#left] = [this.#left, null];
    this.#zoom = zoom;
  }

  #goTo(zoom: Zoom): void {
    if (zoom.join() !== this.#zoom.join()) this.change({ microscopeZoom: zoomOrNone(zoom) });
  }

  #step(direction: 'in' | 'out', row = this.#row ?? largestRow(this.#rows)): void {
    if (direction === 'out') {
      const out = zoomedOut(this.#zoom);
      this.#left = out?.row ?? null;
      if (out) this.#goTo(out.zoom);
    } else if (this.#rows[row]?.opens) {
      this.#goTo(zoomedIn(this.#zoom, row));
    }
  }

  #choose(at: number): void {
    const last = (this.#pass?.labels.length ?? 0) - 1;
    if (at >= 0 && at <= last) this.change({ microscopeAt: at === last ? null : at });
  }

  // ---- hands ----

  readonly #onClick = ({ target }: Event): void => {
    const [at, row] = [within(target, 'at'), within(target, 'row')];
    if (at !== null) this.#choose(at);
    else if (row !== null) this.#into(row);
  };

  /** Into a row of the picture; the focus goes along. */
  #into(row: number): void {
    this.#leads = this.contains(document.activeElement);
    this.#step('in', row);
  }

  readonly #onPoint = ({ target }: Event): void => {
    const row = within(target, 'row');
    if (row === null || row === this.#row) return;
    this.#row = row;
    this.refresh();
  };

  readonly #onWheel = (event: WheelEvent): void => {
    if (!event.ctrlKey) return;
    event.preventDefault(); // the page stays as large as it is
    const direction = this.#gestures.wheel(event);
    if (direction) this.#step(direction, within(event.target, 'row') ?? undefined);
  };

  readonly #onTouch = ({ touches }: TouchEvent): void => this.#gestures.touch(touches);

  readonly #onPinch = ({ touches, target }: TouchEvent): void => {
    const direction = this.#gestures.pinch(touches);
    if (direction) this.#step(direction, within(target, 'row') ?? undefined);
  };

  #onKey(event: KeyboardEvent): void {
    const { key, target, defaultPrevented, altKey, ctrlKey, metaKey } = event;
    if (defaultPrevented || altKey || ctrlKey || metaKey || target instanceof HTMLSelectElement)
      return;
    const row = within(target, 'row');
    if (row !== null && (key === 'Enter' || key === ' ')) this.#into(row);
    else {
      const step = KEYS[key];
      if (!step || !this.#move(step, row)) return;
    }
    event.preventDefault();
  }

  /** Whether the key has led somewhere: others are of the page. */
  #move([what, by]: (typeof KEYS)[string], row: number | null): boolean {
    if (what === 'zoom') {
      this.#leads = row !== null || this.#zoom.length === 2;
      if (by < 0 && this.#zoom.length === 0) return false;
      this.#step(by > 0 ? 'in' : 'out');
      return true;
    }
    if (row === null) return false;
    if (what === 'token') this.#choose((this.#pass?.at ?? 0) + by);
    else this.querySelector<SVGElement>(`.pass-opens[data-row="${row + by}"]`)?.focus();
    return true;
  }

  /** A query of the map that is pressed is the token that is followed. */
  pinned({ row }: Cell): void {
    this.#choose(row);
  }

  protected override rendered({ look }: View): void {
    if (!this.#pass) return;
    // The description of the map is of the one that is there now.
    if (this.#heads.show(this.#pass, this.#zoom, look)) this.refresh();
    if (!this.#leads) return;
    this.#leads = false;
    const row = this.querySelector<SVGElement>('.pass-opens[tabindex="0"]');
    (row ?? this.find('[aria-current=location]', HTMLElement)).focus();
  }
}
