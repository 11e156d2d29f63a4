import './style.css';
import { t } from './feature';
import { Panel } from '../panel';

/** What a developer needs to do the same. The browser test runs this very text. */
const EXAMPLE = `import { init } from 'qkv';

const qkv = await init();

// 6 tokens, 2 heads of width 4 side by side: [tokens, heads * width]
const x = {
  data: Float32Array.from({ length: 6 * 8 }, () => Math.random() - 0.5),
  shape: [6, 8],
};

const { output, weights } = qkv.attention(x, x, x, {
  numHeads: 2,
  causal: true,
  returnWeights: true,
});

console.log(output.shape); // [6, 8]
console.log(weights.shape); // [1, 2, 6, 6]: batch, head, query, key
`;

class UsagePanel extends Panel {
  protected template(): string {
    return `
      <div class="snippet">
        <pre tabindex="0" role="region" data-t-label="usage.install"><code class="install">npm install qkv</code></pre>
      </div>
      <div class="snippet">
        <pre tabindex="0" role="region" data-t-label="usage.example"><code class="example-code"></code></pre>
        <button type="button" class="button copy" data-t="usage.copy"></button>
      </div>
      <p class="visually-hidden" role="status"></p>`;
  }

  protected override ready(): void {
    this.find('.example-code', HTMLElement).textContent = EXAMPLE;
    this.find('.copy', HTMLElement).addEventListener('click', () => void this.#copy());
  }

  async #copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(EXAMPLE);
      this.#say(t('usage.copied'));
    } catch {
      // No permission, or not a secure page: select it, so that one more key copies it.
      getSelection()?.selectAllChildren(this.find('.example-code', HTMLElement));
      this.#say(t('usage.selected'));
    }
  }

  #say(text: string): void {
    const button = this.find('.copy', HTMLElement);
    button.textContent = text;
    this.setText('[role=status]', text);
    setTimeout(() => (button.textContent = t('usage.copy')), 2000);
  }

  update(): void {}
}

customElements.define('qkv-panel-use', UsagePanel);
