import { sentences } from '../../../i18n/i18n';
import '../../../ui/plot.css';
import type { Failure } from '../../../domain/failure';
import { LIMITS, type State } from '../../../state/state';
import { Panel, type View } from '../../panel';
import { pagePen } from '../../../ui/plot';
import { keyEntryHtml, plotStages, stageHtml, type PlotStage } from '../../../ui/plot_stage';
import { reasonOf } from '../../../ui/reason';
import { Lab } from '../../../worker/panel_worker_client';
import { provenance } from '../../head_names';
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
import { type NormPlace } from '../shared/constants';
import { t } from '../feature';

const FIGURES = { stream: drawStream, gradient: drawGradient } as const;
type FigureName = keyof typeof FIGURES;
const NAMES = Object.keys(FIGURES) as readonly FigureName[];
/** A slider that moves asks for nothing until it rests. */
const REST = 200;

const keyEntry = (place: NormPlace) => {
  const mark = `plot-${MARKS[place]}`;
  return keyEntryHtml(mark, `<span data-t="block.${place}"></span>`, `${mark}-point`);
};

function requestOf(state: State, tokens: readonly string[]): DepthRequest {
  const { source, seed, positions, mask, temperature, numbers } = state;
  const { blockType, blockDepth, blockSeed, blockRule } = state;
  return {
    layer: {
      tokens: tokens.slice(0, MAX_BLOCK_TOKENS),
      source,
      seed,
      positions,
      mask,
      temperature,
      numbers,
      trained: null,
      trainedHeads: null,
    },
    ...{ type: blockType, depth: blockDepth, seed: blockSeed, rule: blockRule },
  };
}

/** Stacks of random blocks: how the stream and its gradient change with depth. Nothing runs before the press. */
export class DepthPart extends Panel {
  result: DepthResult | null = null;
  #view: View | null = null;
  #asked = '';
  #done = 0;
  #failure: Failure | null = null;
  #timer = 0;
  readonly #lab = new Lab<ToDepthLab, FromDepthLab>('block', {
    onMessage: (message) => this.#heard(message),
    onFailure: (failure) => this.#failed(failure),
  });
  #stages: Readonly<Record<FigureName, PlotStage>> | null = null;

  protected template(): string {
    const rules = RULES.map(
      (rule) => `<option value="${rule}" data-t="block.rule.${rule}"></option>`,
    );
    const stages = NAMES.map(stageHtml);
    return `
      <h3 data-t="block.depth"></h3>
      <p data-t="block.depthIntro"></p>
      <div class="tools-row">
        <div class="control width-control" data-control><label for="block-depth" data-t="block.blocks"></label>
          <span class="with-number"><input id="block-depth" type="range" min="${LIMITS.blockDepth[0]}"
            max="${LIMITS.blockDepth[1]}" step="1"><output for="block-depth"></output></span></div>
        <div class="control" data-control><label for="block-rule" data-t="block.rule"></label>
          <select id="block-rule">${rules.join('')}</select></div>
        <button type="button" class="button block-draw" data-control data-t="block.draw"></button>
        <button type="button" class="button primary block-run" data-t="block.run"></button>
      </div>
      <p class="hint block-status" role="status"></p>
      <div class="block-curves" hidden>
        <div class="lab-pair">${stages.join('')}
          <ul class="plot-key">${NORM_PLACES.map(keyEntry).join('')}</ul></div>
        <p class="block-found"></p>
        <p class="hint block-how"></p>
      </div>`;
  }

  protected override ready(): void {
    const depth = this.find('#block-depth', HTMLInputElement);
    depth.addEventListener('input', () => this.change({ blockDepth: Number(depth.value) }));
    const rule = this.find('#block-rule', HTMLSelectElement);
    rule.addEventListener('change', () => {
      const chosen = RULES.find((one) => one === rule.value);
      if (chosen) this.change({ blockRule: chosen });
    });
    this.find('.block-draw', HTMLElement).addEventListener('click', () => {
      const [first, last] = LIMITS.blockSeed;
      const next = (this.#view?.state.blockSeed ?? first) + STACKS;
      this.change({ blockSeed: next <= last ? next : first });
    });
    this.find('.block-run', HTMLElement).addEventListener('click', () => this.#run());
    this.#stages = plotStages(this, NAMES);
  }

  update(view: View): void {
    this.#view = view;
    const { state, list, look } = view;
    const key = JSON.stringify(requestOf(state, list.tokens));
    if (!this.changed(key, look)) return;
    this.find('#block-depth', HTMLInputElement).value = String(state.blockDepth);
    this.setText('output[for=block-depth]', String(state.blockDepth));
    this.find('#block-rule', HTMLSelectElement).value = state.blockRule;
    const none = !hasBlock(state.source) || list.tokens.length === 0;
    this.find('.block-run', HTMLButtonElement).disabled = none;
    // The reader asked for the curves: they follow what the reader changes.
    if (this.#asked !== '' && this.#asked !== key && !none) {
      clearTimeout(this.#timer);
      this.#timer = window.setTimeout(() => this.#run(), REST);
    }
    this.#draw();
  }

  #run(): void {
    if (!this.#view) return;
    const { state, list } = this.#view;
    const request = requestOf(state, list.tokens);
    this.#asked = JSON.stringify(request);
    this.#done = 0;
    this.#failure = null;
    this.#lab.send({ type: 'run', request });
    this.#draw();
  }

  #heard(message: FromDepthLab): void {
    if (message.type === 'progress') this.#done = message.done;
    else {
      this.#done = 1;
      this.result = message.result;
    }
    this.#draw();
  }

  #failed(failure: Failure): void {
    this.#failure = failure;
    this.#asked = '';
    this.#draw();
  }

  #status(): string {
    if (this.#failure) return t('block.failed', { reason: reasonOf(this.#failure) });
    if (this.#asked === '') return '';
    if (this.#done < 1) return t('block.running', { part: Math.round(100 * this.#done) });
    return '';
  }

  #draw(): void {
    this.setText('.block-status', this.#status());
    const { result } = this;
    this.find('.block-curves', HTMLElement).hidden = result === null;
    if (!result || !this.#view) return;
    for (const name of NAMES) {
      this.#stages?.[name].show({
        height: DEPTH_HEIGHT,
        label: describe(result, name),
        draw: (width) => FIGURES[name]({ pen: pagePen, area: pageArea }, width, result),
      });
    }
    const { depth, seed, rule, type, layer } = result.request;
    this.setText(
      '.block-found',
      sentences(describe(result, 'stream'), describe(result, 'gradient'), t('block.why')),
    );
    const values = {
      ...{ depth, stacks: STACKS, probes: PROBES, from: seed, to: seed + STACKS - 1 },
      ...{ count: layer.tokens.length, rule: t(`block.rule.${rule}`), norm: t(`block.${type}`) },
      source: provenance(layer.source, layer.seed),
    };
    this.setText('.block-how', t('block.how', values));
  }
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
