import { sentences } from '../../../i18n/i18n';
import '../../../ui/plot.css';
import { html, type TemplateResult } from 'lit-html';
import { live } from 'lit-html/directives/live.js';
import type { Failure } from '../../../domain/failure';
import { LIMITS, type State } from '../../../state/state';
import { button, nextWithin, options, withValue } from '../../../ui/lit/controls';
import { keyEntry, stage } from '../../../ui/lit/plots';
import { pagePen } from '../../../ui/plot';
import { reasonOf } from '../../../ui/reason';
import { Lab } from '../../../worker/panel_worker_client';
import { provenance } from '../../head_names';
import { LitPanel } from '../../lit_panel';
import type { View } from '../../panel';
import type { DepthRequest, DepthResult, FromDepthLab, ToDepthLab } from '../shared/protocol';
import {
  hasBlock,
  MAX_BLOCK_TOKENS,
  NORM_PLACES,
  PROBES,
  RULES,
  STACKS,
} from '../shared/constants';
import { DEPTH_HEIGHT, drawGradient, drawStream, endsOf, MARKS, pageArea } from './plots';
import { t } from '../feature';

const FIGURES = { stream: drawStream, gradient: drawGradient } as const;
type FigureName = keyof typeof FIGURES;
const NAMES = Object.keys(FIGURES) as readonly FigureName[];
/** A slider that moves asks for nothing until it rests. */
const REST = 200;

function requestOf(state: State, tokens: readonly string[]): DepthRequest {
  const { source, seed, positions, mask, temperature, numbers } = state;
  const { blockType, blockDepth, blockSeed, blockRule } = state;
  return {
    layer: {
      tokens: tokens.slice(0, MAX_BLOCK_TOKENS),
      ...{ source, seed, positions, mask, temperature, numbers },
      ...{ trained: null, trainedHeads: null },
    },
    ...{ type: blockType, depth: blockDepth, seed: blockSeed, rule: blockRule },
  };
}

/** Whether there are blocks to stack, and a sentence that they could read. */
const canRun = ({ layer }: DepthRequest) => hasBlock(layer.source) && layer.tokens.length > 0;

/** Stacks of random blocks: how the stream and its gradient change with depth. Nothing runs before the press. */
export class DepthPart extends LitPanel {
  result: DepthResult | null = null;
  /** Null: nothing can be computed in this state. */
  #request: DepthRequest | null = null;
  /** What the state needs, and what was requested of the worker, as texts; empty: nothing. */
  #wanted = '';
  #requested = '';
  #done = 0;
  #failure: Failure | null = null;
  #timer = 0;
  readonly #lab = new Lab<ToDepthLab, FromDepthLab>('block', {
    onMessage: (message) => this.#receive(message),
    onFailure: (failure) => this.#failed(failure),
  });

  override update(view: View): void {
    const before = this.#wanted;
    const request = requestOf(view.state, view.list.tokens);
    this.#request = canRun(request) ? request : null;
    this.#wanted = JSON.stringify(request);
    super.update(view);
    // Written every time, as a lesson that locks the button leaves it as it found it.
    this.find('.block-run', HTMLButtonElement).disabled = !this.#request;
    if (this.#wanted === before || this.#wanted === this.#requested) return;
    // The reader requested the curves: they follow what the reader changes.
    if (this.#requested === '' || !this.#request) return;
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => this.#run(), REST);
  }

  protected inputs({ look }: View): readonly unknown[] {
    return [this.#wanted, look];
  }

  protected render({ state }: View): TemplateResult {
    const { result } = this;
    return html`
      <h3>${t('block.depth')}</h3>
      <p>${t('block.depthIntro')}</p>
      ${this.#tools(state)}
      <p class="hint block-status" role="status">${this.#status()}</p>
      <div class="block-curves" ?hidden=${result === null}>${result && curvesOf(result)}</div>`;
  }

  #tools({ blockDepth, blockRule, blockSeed }: State): TemplateResult {
    const [least, most] = LIMITS.blockDepth;
    const rules = RULES.map((rule) => [rule, t(`block.rule.${rule}`)] as const);
    const choose = (value: string) => {
      const chosen = RULES.find((rule) => rule === value);
      if (chosen) this.change({ blockRule: chosen });
    };
    const next = nextWithin(LIMITS.blockSeed, blockSeed + STACKS - 1);
    return html`<div class="tools-row">
      <div class="control width-control" data-control><label for="block-depth">${t('block.blocks')}</label>
        <span class="with-number"><input id="block-depth" type="range" min=${least} max=${most} step="1" .value=${live(String(blockDepth))}
          @input=${withValue((depth) => this.change({ blockDepth: Number(depth) }))}><output for="block-depth">${blockDepth}</output></span></div>
      <div class="control" data-control><label for="block-rule">${t('block.rule')}</label>
        <select id="block-rule" @change=${withValue(choose)}>${options(rules, blockRule)}</select></div>
      <button type="button" class="button block-draw" data-control @click=${() => this.change({ blockSeed: next })}>${t('block.draw')}</button>
      ${button('primary block-run', t('block.run'), () => this.#run())}
    </div>`;
  }

  #run(): void {
    if (!this.#request) return;
    this.#requested = this.#wanted;
    this.#done = 0;
    this.#failure = null;
    this.#lab.send({ type: 'run', request: this.#request });
    this.refresh();
  }

  #receive(message: FromDepthLab): void {
    if (message.type === 'progress') this.#done = message.done;
    else {
      this.#done = 1;
      this.result = message.result;
    }
    this.refresh();
  }

  #failed(failure: Failure): void {
    this.#failure = failure;
    this.#requested = '';
    this.refresh();
  }

  #status(): string {
    if (this.#failure) return t('block.failed', { reason: reasonOf(this.#failure) });
    if (this.#requested === '') return '';
    if (this.#done < 1) return t('block.running', { part: Math.round(100 * this.#done) });
    return '';
  }
}

function curvesOf(result: DepthResult): TemplateResult {
  const figure = (name: FigureName) =>
    stage(name, {
      height: DEPTH_HEIGHT,
      label: describe(result, name),
      draw: (width) => FIGURES[name]({ pen: pagePen, area: pageArea }, width, result),
    });
  const keys = NORM_PLACES.map((place) => {
    const mark = `plot-${MARKS[place]}`;
    return keyEntry(mark, t(`block.${place}`), `${mark}-point`);
  });
  return html`
    <div class="lab-pair">${NAMES.map(figure)}
      <ul class="plot-key">${keys}</ul></div>
    <p class="block-found">${sentences(describe(result, 'stream'), describe(result, 'gradient'), t('block.why'))}</p>
    <p class="hint block-how">${howOf(result.request)}</p>`;
}

function howOf({ depth, seed, rule, type, layer }: DepthRequest): string {
  return t('block.how', {
    ...{ depth, stacks: STACKS, probes: PROBES, from: seed, to: seed + STACKS - 1 },
    ...{ count: layer.tokens.length, rule: t(`block.rule.${rule}`), norm: t(`block.${type}`) },
    source: provenance(layer.source, layer.seed),
  });
}

/** Both curves of a figure in a sentence. */
function describe({ curves }: DepthResult, name: FigureName): string {
  const [pre, post] = [endsOf(curves.pre[name]), endsOf(curves.post[name])];
  const values = {
    ...{ preFirst: pre.first, preLast: pre.last, preLow: pre.low, preHigh: pre.high },
    ...{ postFirst: post.first, postLast: post.last, postLow: post.low, postHigh: post.high },
  };
  return t(`block.found.${name}`, values);
}

customElements.define('qkv-block-depth', DepthPart);
