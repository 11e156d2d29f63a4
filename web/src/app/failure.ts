import { t } from '../i18n/i18n';
import { Panel, type View } from '../features/panel';

const KNOWN = {
  load_failed: 'failure.load_failed',
  unsupported: 'failure.unsupported',
  out_of_memory: 'failure.out_of_memory',
} as const;

/** Says what went wrong with the engine, in words and in the engine's own. */
export class FailurePanel extends Panel {
  protected template(): string {
    return `
      <div class="failure" role="alert" hidden>
        <h2 data-t="failure.title"></h2>
        <p class="reason"></p>
        <p class="engine-message"><code></code></p>
        <button type="button" class="button" data-t="failure.retry"></button>
      </div>`;
  }

  protected override ready(): void {
    this.find('button', HTMLElement).addEventListener('click', () => {
      this.dispatchEvent(new CustomEvent('engine-retry', { bubbles: true }));
    });
  }

  update({ engine }: View): void {
    const box = this.find('.failure', HTMLElement);
    box.hidden = engine.kind !== 'failed';
    if (engine.kind !== 'failed') return;
    const { code, message } = engine.failure;
    const key = code in KNOWN ? KNOWN[code as keyof typeof KNOWN] : 'failure.other';
    this.setText('.reason', t(key));
    this.setText('code', `${code}: ${message}`);
  }
}
