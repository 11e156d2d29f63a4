import { sentences } from '../../../i18n/i18n';
import '../../../ui/plot.css';
import { html, type TemplateResult } from 'lit-html';
import type { Failure } from '../../../domain/failure';
import { digits, duration, withUnit } from '../../../ui/numbers';
import { LitPanel } from '../../lit_panel';
import type { View } from '../../panel';
import { pagePen } from '../../../ui/plot';
import { stage } from '../../../ui/lit/plots';
import { tableHead, tableRow } from '../../../ui/lit/tables';
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

const WAYS = ['stored', 'streamed', 'decode'] as const;
/** What is measured, as the texts name it. */
const SHAPE = { width: WIDTH, heads: DECODE_HEADS, from: FIT_FROM };

/** Measures this device when the reader asks for it, and shows what was measured here or elsewhere. */
export class BenchPart extends LitPanel {
  /** What the link has. */
  #linked: BenchResult | null = null;
  #news: BenchNews | null = null;
  #running = false;
  #failure: Failure | null = null;
  /** What was measured in this tab, as it stands in the link, and by how much both ways differed then. */
  #own = '';
  #ownDifference = NaN;
  readonly #lab = new Lab<ToBenchLab, FromBenchLab>('cost', {
    onMessage: (message) => this.#receive(message),
    onFailure: (failure) => this.#failed(failure),
  });

  override update(view: View): void {
    this.#linked = view.state.costResult;
    super.update(view);
  }

  protected inputs({ state, look }: View): readonly unknown[] {
    return [state.costResult, look];
  }

  protected render(): TemplateResult {
    const { result } = this;
    const running = this.#running;
    return html`
      <h3>${t('cost.bench')}</h3>
      <p class="bench-intro">${t('cost.benchIntro', SHAPE)}</p>
      <div class="with-number">
        <button type="button" class="button primary bench-run" ?hidden=${running} @click=${() => this.#run()}>${t('cost.run')}</button>
        <button type="button" class="button bench-stop" ?hidden=${!running} @click=${() => this.#stop()}>${t('cost.stop')}</button>
        <span class="bench-status" role="status">${this.#status()}</span>
      </div>
      <div class="bench-result" ?hidden=${result === null}>${result && this.#found(result)}</div>`;
  }

  #found(result: BenchResult): TemplateResult {
    const { variant, threads, cores, rows } = result;
    const here = this.#running || writeResult(result) === this.#own;
    const known = this.#running ? (this.#news?.difference ?? NaN) : this.#ownDifference;
    const difference = here ? known : NaN;
    const same = Number.isNaN(difference)
      ? ''
      : t('cost.same', { difference: digits(difference, 2) });
    const device = { build: variant, threads, cores };
    return html`
      <p class="bench-device">${t(here ? 'cost.device' : 'cost.elsewhere', device)}</p>
      <table class="data-table cost-table bench-table">
        ${tableHead(['T', ...WAYS.map((way) => t(`cost.${way}`))])}
        <tbody>${rows.map(rowOf)}</tbody>
      </table>
      <div class="lab-pair">${plotOf('time', TIMES, rows)}${plotOf('memory', MEMORY, rows)}</div>
      <p class="bench-found">${sentences(factors(rows), same)}</p>
      <p class="hint bench-how">${t('cost.benchHow', SHAPE)}</p>`;
  }

  /** What is on the screen: what is being measured, or what the link has. */
  get result(): BenchResult | null {
    return this.#running ? (this.#news?.result ?? null) : this.#linked;
  }

  #run(): void {
    this.#running = true;
    this.#failure = null;
    this.#news = null;
    this.#lab.send({ type: 'run', cores: navigator.hardwareConcurrency });
    this.refresh();
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
    this.refresh();
    if (hadFocus) this.find('.bench-run', HTMLElement).focus();
  }

  #receive(message: FromBenchLab): void {
    if (message.type === 'news') {
      this.#news = message.news;
      this.refresh();
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
}

/** A plot of these series, with a key that says how each grows. */
function plotOf(
  name: string,
  series: readonly Series[],
  rows: readonly BenchRow[],
): TemplateResult {
  const fits = series.map((each) => fitText(rows, each));
  const plot = {
    height: BENCH_HEIGHT,
    label: fits.join('; '),
    draw: (width: number) => drawBench(pagePen, width, rows, series),
  };
  const entry = (each: Series, i: number) => html`
    <li><svg width="30" height="12" aria-hidden="true"><path class="plot-${SERIES[each]}" d="M0 6H30"/></svg><span data-fit=${each}>${fits[i]}</span></li>`;
  return html`<div>${stage(name, plot)}<ul class="plot-key">${series.map(entry)}</ul></div>`;
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

function rowOf(row: BenchRow): TemplateResult {
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
  return tableRow(tokens, cells.map(cellOf));
}

/** Its numbers side by side, or one below the other where there is little room. */
const cellOf = (numbers: readonly string[]): TemplateResult =>
  html`<span class="bench-cell">${numbers.map((value) => html`<span>${value}</span>`)}</span>`;

customElements.define('qkv-cost-bench', BenchPart);
