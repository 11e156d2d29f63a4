import { html, nothing, type TemplateResult } from 'lit-html';
import { options, typedText, withValue } from '../../../ui/lit/controls';
import { percent } from '../../../ui/numbers';
import type { State } from '../../../state/state';
import { t } from '../feature';
import type { Choice, MicroscopeAsk, Prompt, Prompts } from '../shared/protocol';
import { LONGEST_PROMPT, OTHER_PROMPTS } from '../state';
import { signed } from './names';

type Change = (patch: Partial<State>) => void;

/** The places at which two prompts have different tokens. */
export function differencesOf({ clean, corrupt }: Pick<Prompts, 'clean' | 'corrupt'>): Set<number> {
  const count = Math.max(clean.ids.length, corrupt.ids.length);
  const places = Array.from({ length: count }, (_, at) => at);
  return new Set(places.filter((at) => clean.ids[at] !== corrupt.ids[at]));
}

const SIDES = [
  ['clean', 'microscopeClean'],
  ['corrupt', 'microscopeCorrupt'],
] as const;

/** Two prompts side by side: their texts, and their tokens with the difference marked. */
export function promptsView(
  ask: MicroscopeAsk,
  prompts: Prompts | null,
  change: Change,
): TemplateResult {
  const differs = prompts ? differencesOf(prompts) : new Set<number>();
  const side = ([name, field]: (typeof SIDES)[number]) => html`
    <div class="microscope-prompt">
      <label for="microscope-${name}"><b>${t(`microscope.${name}`)}</b></label>
      <textarea id="microscope-${name}" rows="2" maxlength=${LONGEST_PROMPT} spellcheck="false" data-control
        @input=${withValue((text) => change({ [field]: text || null, ...OTHER_PROMPTS }))} ${typedText(ask[name], (typed) => typed)}></textarea>
      <p class="microscope-tokens">${prompts && tokensOf(prompts[name], differs)}</p>
      <p class="hint" ?hidden=${!prompts || prompts[name].unknown.length === 0}>${
        prompts && t('microscope.unknown', { list: prompts[name].unknown.slice(0, 12).join(' ') })
      }</p>
    </div>`;
  return html`<div class="microscope-pair">${SIDES.map(side)}</div>
    <p class="note microscope-problem" role="status" ?hidden=${!prompts?.problem}>${prompts && problemText(prompts)}</p>`;
}

const tokensOf = ({ labels }: Prompt, differs: ReadonlySet<number>) =>
  labels.map((label, at) => {
    const words = differs.has(at)
      ? html`<mark><bdi>${label}</bdi></mark>`
      : html`<span><bdi>${label}</bdi></span>`;
    return html`${words} `;
  });

function problemText({ problem, clean, corrupt }: Prompts): string {
  if (problem === null) return '';
  const values = { clean: clean.ids.length, corrupt: corrupt.ids.length };
  return t(`microscope.problem.${problem}`, values);
}

const CHOSEN = [
  ['answer', 'microscopeAnswer'],
  ['instead', 'microscopeInstead'],
] as const;

/** The two tokens whose logits are compared, chosen from the likeliest, and the measure of both prompts. */
export function measureView(prompts: Prompts | null, change: Change): TemplateResult {
  const choices = prompts?.choices ?? [];
  const offered = choices.map(
    ({ id, label, probability }) => [String(id), `${label} · ${percent(probability)}`] as const,
  );
  const select = ([name, field]: (typeof CHOSEN)[number]) => html`
    <label class="minus"><span>${t(`microscope.${name}`)}</span>
      <select id="microscope-${name}" @change=${withValue((id) => change({ [field]: Number(id) }))}>${options(offered, String(prompts?.[name]?.id ?? ''))}</select></label>`;
  return html`
    <div class="microscope-controls" data-control ?hidden=${choices.length === 0}>${CHOSEN.map(select)}</div>
    <p class="microscope-measure">${prompts?.answer && prompts.instead ? measureText(prompts, prompts.answer, prompts.instead) : nothing}</p>`;
}

function measureText({ measures }: Prompts, answer: Choice, instead: Choice): string {
  return t('microscope.measure', {
    ...{ answer: answer.label, instead: instead.label },
    ...{ clean: signed(measures[0]), corrupt: signed(measures[1]) },
  });
}
