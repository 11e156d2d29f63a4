import { sentences } from '../../../i18n/i18n';
import '../../../ui/plot.css';
import type { Failure } from '../../../domain/failure';
import { digits, duration, withUnit } from '../../../ui/numbers';
import { Panel, type View } from '../../panel';
import { pagePen } from '../../../ui/plot';
import { keyEntryHtml, plotStages, stageHtml, type PlotStage } from '../../../ui/plot_stage';
import { reasonOf } from '../../../ui/reason';
import { Lab } from '../../../worker/panel_worker_client';
import type { BenchNews, FromBenchLab, ToBenchLab } from '../shared/protocol';
import { BENCH_HEIGHT, drawBench, fitOf, MEMORY, SERIES, TIMES, type Series } from './plots';
import {
  DECODE_HEADS,
  FIT_FROM,
  gigabytes,
  gigaflops,
  WIDTH,
  writeResult,
  type BenchResult,
  type BenchRow,
} from '../shared/bench_result';
import { t } from '../feature';

const FIGURES = { time: TIMES, memory: MEMORY } as const;
type FigureName = keyof typeof FIGURES;
const NAMES = Object.keys(FIGURES) as readonly FigureName[];

const keyEntry = (name: Series) =>
  keyEntryHtml(`plot-${SERIES[name]}`, `<span data-fit="${name}"></span>`);

/** Measures this device when the reader asks for it, and shows what was measured here or elsewhere. */
export class BenchPart extends Panel {
  #view: View | null = null;
  #news: BenchNews | null = null;
  #running = false;
  #failure: Failure | null = null;
  /** What was measured in this tab, as it stands in the link, and by how much both ways differed then. */
  #own = '';
  #ownDifference = NaN;
  readonly #lab = new Lab<ToBenchLab, FromBenchLab>('cost', {
    onMessage: (message) => this.#heard(message),
    onFailure: (failure) => this.#failed(failure),
  });
  #stages: Readonly<Record<FigureName, PlotStage>> | null = null;

  protected template(): string {
    const stages = NAMES.map(
      (name) => `<div>${stageHtml(name)}
        <ul class="plot-key">${FIGURES[name].map(keyEntry).join('')}</ul></div>`,
    );
    return `
      <h3 data-t="cost.bench"></h3>
      <p class="bench-intro"></p>
      <div class="with-number">
        <button type="button" class="button primary bench-run" data-t="cost.run"></button>
        <button type="button" class="button bench-stop" data-t="cost.stop" hidden></button>
        <span class="bench-status" role="status"></span>
      </div>
      <div class="bench-result" hidden>
        <p class="bench-device"></p>
        <table class="data-table cost-table bench-table">
          <thead><tr><th scope="col">T</th><th scope="col" data-t="cost.stored"></th>
            <th scope="col" data-t="cost.streamed"></th><th scope="col" data-t="cost.decode"></th></tr></thead>
          <tbody></tbody>
        </table>
        <div class="lab-pair">${stages.join('')}</div>
        <p class="bench-found"></p>
        <p class="hint bench-how"></p>
      </div>`;
  }

  protected override ready(): void {
    this.find('.bench-run', HTMLElement).addEventListener('click', () => this.#run());
    this.find('.bench-stop', HTMLElement).addEventListener('click', () => this.#stop());
    this.#stages = plotStages(this, NAMES);
  }

  update(view: View): void {
    this.#view = view;
    if (this.changed(view.state.costResult, view.look)) this.#draw();
  }

  /** What is on the screen: what is being measured, or what the link has. */
  get result(): BenchResult | null {
    return this.#running ? (this.#news?.result ?? null) : (this.#view?.state.costResult ?? null);
  }

  #run(): void {
    this.#running = true;
    this.#failure = null;
    this.#news = null;
    this.#lab.send({ type: 'run', cores: navigator.hardwareConcurrency });
    this.#draw();
    this.find('.bench-stop', HTMLElement).focus();
  }

  #stop(): void {
    this.#end();
    this.find('.bench-run', HTMLElement).focus();
  }

  /** The worker ends with the measurement: it holds engines and nothing that is needed again. */
  #end(): void {
    const hadFocus = document.activeElement === this.find('.bench-stop', HTMLElement);
    this.#lab.stop();
    this.#running = false;
    this.#draw();
    if (hadFocus) this.find('.bench-run', HTMLElement).focus();
  }

  #heard(message: FromBenchLab): void {
    if (message.type === 'news') {
      this.#news = message.news;
      this.#draw();
      return;
    }
    const result = this.#news?.result ?? null;
    this.#own = writeResult(result);
    this.#ownDifference = this.#news?.difference ?? NaN;
    this.#end();
    this.change({ costResult: result });
  }

  #failed(failure: Failure): void {
    this.#failure = failure;
    this.#end();
  }

  #status(): string {
    if (this.#failure) return t('cost.failed', { reason: reasonOf(this.#failure) });
    if (!this.#running) return '';
    return t('cost.running', { done: this.#news?.done ?? 0, all: this.#news?.all ?? '…' });
  }

  #draw(): void {
    if (!this.#view) return;
    const { result } = this;
    const shape = { width: WIDTH, heads: DECODE_HEADS, from: FIT_FROM };
    this.setText('.bench-intro', t('cost.benchIntro', shape));
    this.setText('.bench-status', this.#status());
    this.find('.bench-run', HTMLElement).hidden = this.#running;
    this.find('.bench-stop', HTMLElement).hidden = !this.#running;
    this.find('.bench-result', HTMLElement).hidden = result === null;
    if (!result) return;
    const here = this.#running || writeResult(result) === this.#own;
    const known = this.#running ? (this.#news?.difference ?? NaN) : this.#ownDifference;
    const device = { build: result.variant, threads: result.threads, cores: result.cores };
    this.setText('.bench-device', t(here ? 'cost.device' : 'cost.elsewhere', device));
    this.find('tbody', HTMLElement).replaceChildren(...result.rows.map(rowOf));
    this.#figures(result);
    const difference = here ? known : NaN;
    const found = Number.isNaN(difference)
      ? ''
      : t('cost.same', { difference: digits(difference, 2) });
    this.setText('.bench-found', sentences(factors(result.rows), found));
    this.setText('.bench-how', t('cost.benchHow', shape));
  }

  #figures({ rows }: BenchResult): void {
    for (const name of NAMES) {
      const fits = FIGURES[name].map((series) => [series, fitText(rows, series)] as const);
      for (const [series, fit] of fits) this.setText(`[data-fit=${series}]`, fit);
      this.#stages?.[name].show({
        height: BENCH_HEIGHT,
        label: fits.map(([, fit]) => fit).join('; '),
        draw: (width) => drawBench(pagePen, width, rows, FIGURES[name]),
      });
    }
  }
}

/** The law that was fitted, with the standard error of the exponent. */
function fitText(rows: readonly BenchRow[], series: Series): string {
  const { slope, spread } = fitOf(rows, series);
  const name = t(`cost.series.${series}`);
  if (!Number.isFinite(slope)) return name;
  const off = Number.isFinite(spread) ? ` ± ${spread.toFixed(2)}` : '';
  return t('cost.fit', { name, slope: `${slope.toFixed(2)}${off}` });
}

/** Memory and time of the longest length, one way against the other. */
function factors(rows: readonly BenchRow[]): string {
  const last = rows.filter((row) => row.storedMs > 0 && row.streamingMs > 0).at(-1);
  if (!last) return '';
  return t('cost.found', {
    tokens: last.tokens,
    stored: withUnit(last.storedBytes, 'B'),
    streaming: withUnit(last.streamingBytes, 'B'),
    ratio: digits(last.storedBytes / last.streamingBytes, 3),
    time: digits(last.storedMs / last.streamingMs, 3),
  });
}

function rowOf(row: BenchRow): HTMLTableRowElement {
  const { tokens, storedMs, streamingMs, decodeMs } = row;
  const rate = (giga: number, unit: string) => withUnit(giga * 1e9, unit);
  const way = (ms: number, bytes: number) =>
    Number.isFinite(ms)
      ? [duration(ms), rate(gigaflops(tokens, ms), 'FLOP/s'), withUnit(bytes, 'B')]
      : [];
  const cells = [
    way(storedMs, row.storedBytes),
    way(streamingMs, row.streamingBytes),
    Number.isFinite(decodeMs) ? [duration(decodeMs), rate(gigabytes(tokens, decodeMs), 'B/s')] : [],
  ];
  const element = document.createElement('tr');
  const head = document.createElement('th');
  head.scope = 'row';
  head.textContent = String(tokens);
  element.append(head, ...cells.map(cellOf));
  return element;
}

/** Its numbers side by side, or one below the other where there is little room. */
function cellOf(numbers: readonly string[]): HTMLTableCellElement {
  const cell = document.createElement('td');
  const group = document.createElement('span');
  group.className = 'bench-cell';
  group.append(
    ...numbers.map((value) => {
      const part = document.createElement('span');
      part.textContent = value;
      return part;
    }),
  );
  cell.append(group);
  return cell;
}

customElements.define('qkv-cost-bench', BenchPart);
