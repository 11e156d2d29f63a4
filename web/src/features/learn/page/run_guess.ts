import { html, type TemplateResult } from 'lit-html';
import { live } from 'lit-html/directives/live.js';
import { sentences } from '../../../i18n/i18n';
import type { Content } from '../../../ui/lit/texts';
import { digits } from '../../../ui/numbers';
import { ANSWERS, outcomeOf, questionOf, type Answer, type Outcome } from './guess_outcome';
import type { RunRecord } from './run_record';
import { sameSettings, taskCalled } from './settings_of_state';
import type { Settings } from '../shared/run_settings';
import { t } from '../feature';

/** Whether a run with some settings answers the question that is put before others. */
function answers(run: Settings, of: Settings): boolean {
  const anyLayers = questionOf(of) === 'layers' && run.layers < 3;
  return sameSettings(anyLayers ? { ...run, layers: of.layers } : run, of);
}

/** What became of it, in words. */
function found(outcome: Outcome): string {
  const { answer, step, scores } = outcome;
  const first = t(`learn.outcome.${answer}`, { step });
  if (!scores || answer === 'neither') return first;
  const values = { previous: digits(scores.previous, 2), induction: digits(scores.induction, 2) };
  return sentences(first, t('learn.outcome.scores', values));
}

/**
 * A question before the run, and afterwards what became of it. It may be passed over: Play does not wait for it. Not
 * `ui/guess.ts`, which hides a result that is known until the reader has chosen, once: here nothing is known yet, the
 * answer can be changed until the run begins, and its outcome is shown only when the run has got so far.
 */
export class RunGuess {
  readonly #changed: () => void;
  #guessed: { readonly settings: Settings; readonly answer: Answer } | null = null;

  constructor(changed: () => void) {
    this.#changed = changed;
  }

  /** `runs`: those that there are. */
  render(settings: Settings, runs: readonly RunRecord[]): Content {
    const { budget } = taskCalled(settings.task, settings.text).defaults;
    const question = questionOf(settings);
    const words = t(`learn.ask.${question}`, { budget });
    const guessed = this.#guessed;
    const answer = guessed && answers(guessed.settings, settings) ? guessed.answer : null;
    const records = runs.filter((run) => answers(run.settings, settings));
    if (!records.some(({ step }) => step > 0)) return this.#ask(words, settings, answer);
    const said = answer ? t('learn.youSaid', { answer: t(`learn.say.${answer}`) }) : '';
    const open = question === 'layers' ? 'learn.outcome.openLayers' : 'learn.outcome.open';
    const outcome = outcomeOf(question, records, budget);
    return sentences(words, said, outcome ? found(outcome) : t(open, { budget }));
  }

  #ask(words: string, settings: Settings, answer: Answer | null): TemplateResult {
    const choice = (each: Answer) => {
      const take = () => {
        this.#guessed = { settings, answer: each };
        this.#changed();
      };
      return html`<label class="check"><input type="radio" name="learn-guess" value=${each}
        .checked=${live(each === answer)} @change=${take}> ${t(`learn.say.${each}`)}</label>`;
    };
    return html`<fieldset><legend>${words}</legend>${ANSWERS[questionOf(settings)].map(choice)}<span class="hint">${t('learn.askHint')}</span></fieldset>`;
  }
}
