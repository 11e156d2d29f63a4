import type { Frame } from '../engine/protocol';
import { t } from '../i18n';
import { bytes, digits, duration } from '../numbers';
import { Panel, type View } from './panel';

const ITEMS = ['error', 'time', 'build', 'sums', 'memory', 'weights'] as const;
const UNKNOWN = { variant: '–', version: '–', threads: '–' };
type Item = (typeof ITEMS)[number];

/** What the numbers of the page can be held to: their error, their cost and where they come from. */
export class ReadingsPanel extends Panel {
  protected template(): string {
    const items = ITEMS.map(
      (item) => `
        <div class="reading" data-reading="${item}">
          <dt data-t="readings.${item}"></dt><dd class="value"></dd><dd class="hint"></dd>
        </div>`,
    );
    return `<dl class="readings">${items.join('')}</dl>`;
  }

  update({ frame, state }: View): void {
    const layer = frame && frame.request.tokens.length > 0 ? frame : null;
    this.#show('weights', t('badge.random', { seed: state.seed }), t('readings.weightsNote'));
    this.#show('error', layer ? digits(layer.check.weights, 2) : '–', errorNote(layer));
    this.#show('time', layer ? duration(layer.timing.median) : '–', timeNote(layer));
    const sums = layer ? `1 ± ${digits(layer.check.rowSum, 2)}` : '–';
    this.#show('sums', sums, t('readings.sumsNote'));
    const info = frame?.info;
    this.#show('build', info?.isa ?? '–', buildNote(frame));
    const used = frame ? bytes(frame.memory.usedBytes) : '–';
    const heap = frame ? bytes(frame.memory.heapBytes) : '–';
    this.#show('memory', used, t('readings.memoryNote', { heap }));
  }

  #show(item: Item, value: string, note: string): void {
    this.setText(`[data-reading=${item}] .value`, value);
    this.setText(`[data-reading=${item}] .hint`, note);
  }
}

function errorNote(frame: Frame | null): string {
  return t('readings.errorNote', { entropy: frame ? digits(frame.check.entropy, 2) : '–' });
}

function buildNote(frame: Frame | null): string {
  const { variant, version, threads } = frame?.info ?? UNKNOWN;
  return t('readings.buildNote', { variant, version, threads });
}

function timeNote(frame: Frame | null): string {
  if (!frame) return '';
  const { samples, calls, tick } = frame.timing;
  return t('readings.timeNote', {
    count: frame.request.tokens.length,
    samples,
    calls,
    tick: duration(tick),
  });
}

customElements.define('qkv-readings', ReadingsPanel);
