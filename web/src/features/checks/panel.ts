import './style.css';
import type { Frame, Report } from '../../worker/protocol';
import { readingsFigure } from './page/figure';
import type { Figure } from '../../ui/export_figure';
import { t } from './feature';
import { bytes, digits, duration } from '../../ui/numbers';
import type { Source } from '../../domain/sources';
import type { TokenList } from '../../domain/tokenizer';
import { provenance } from '../head_names';
import { Panel, type View } from '../panel';

const ITEMS = ['error', 'time', 'build', 'sums', 'memory', 'weights'] as const;
const UNKNOWN = { variant: '–', version: '–' };
type Item = (typeof ITEMS)[number];

/** What the numbers of the page can be held to: their error, their cost and where they come from. */
class ReadingsPanel extends Panel {
  protected template(): string {
    const items = ITEMS.map(
      (item) => `
        <div class="reading" data-reading="${item}">
          <dt data-t="readings.${item}"></dt><dd class="value"></dd><dd class="hint"></dd>
        </div>`,
    );
    return `<dl class="readings">${items.join('')}</dl>`;
  }

  update({ frame, report, state, list }: View): void {
    const check = report?.check ?? null;
    this.#show('weights', provenance(state.source, state.seed), t(`readings.${state.source}`));
    this.#show('error', check ? digits(check.weights, 2) : '–', errorNote(check));
    this.#show(
      'time',
      report?.timing ? duration(report.timing.median) : '–',
      timeNote(report, list, state.source),
    );
    const sums = check ? `1 ± ${digits(check.rowSum, 2)}` : '–';
    this.#show('sums', sums, t('readings.sumsNote'));
    this.#show('build', frame?.info.isa ?? '–', buildNote(frame));
    const used = report ? bytes(report.memory.usedBytes) : '–';
    const heap = report ? bytes(report.memory.heapBytes) : '–';
    this.#show('memory', used, t('readings.memoryNote', { heap }));
  }

  override figure({ report, frame }: View): Promise<Figure | null> {
    return Promise.resolve(report && frame && readingsFigure(report, frame));
  }

  #show(item: Item, value: string, note: string): void {
    this.setText(`[data-reading=${item}] .value`, value);
    this.setText(`[data-reading=${item}] .hint`, note);
  }
}

function errorNote(check: Report['check']): string {
  const values = { entropy: check ? digits(check.entropy, 2) : '–', heads: check?.heads ?? '–' };
  return t('readings.errorNote', values);
}

function buildNote(frame: Frame | null): string {
  const { variant, version } = frame?.info ?? UNKNOWN;
  return t('readings.buildNote', { variant, version });
}

/** Of a source without a layer of its own the heads are timed one by one. */
const ONE_BY_ONE: readonly Source[] = ['trained', 'yours'];

function timeNote(report: Report | null, list: TokenList, source: Source): string {
  if (!report?.timing) return '';
  const { samples, calls, tick } = report.timing;
  const count = list.tokens.length;
  const note = ONE_BY_ONE.includes(source) ? 'readings.timeNoteHeads' : 'readings.timeNote';
  return t(note, { count, samples, calls, tick: duration(tick) });
}

customElements.define('qkv-panel-checks', ReadingsPanel);
