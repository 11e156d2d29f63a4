import { sentences } from '../../../i18n/i18n';
import { digits } from '../../../ui/numbers';
import { ANSWERS, outcomeOf, questionOf, type Answer, type Outcome } from './guess_outcome';
import type { RunRecord } from './run_record';
import { sameSettings, taskCalled } from './settings_of_state';
import type { Settings } from '../shared/run_settings';
import { t } from '../feature';

/** Whether a run with some settings answers the question that is put before others. */
export function answers(run: Settings, asked: Settings): boolean {
  const anyLayers = questionOf(asked) === 'layers' && run.layers < 3;
  return sameSettings(anyLayers ? { ...run, layers: asked.layers } : run, asked);
}

/** What became of it, in words. */
function found(outcome: Outcome): string {
  const { answer, step, scores } = outcome;
  const told = t(`learn.outcome.${answer}`, { step });
  if (!scores || answer === 'neither') return told;
  const values = { previous: digits(scores.previous, 2), induction: digits(scores.induction, 2) };
  return sentences(told, t('learn.outcome.scores', values));
}

/**
 * A question before the run, and afterwards what became of it. It may be passed over: Play does not wait for it. Not
 * `ui/guess.ts`, which hides a result that is known until the reader has chosen, once: here nothing is known yet, the
 * answer can be changed until the run begins, and it is told only when the run has got so far.
 */
export class RunGuess {
  readonly #root: HTMLElement;
  #settings: Settings | null = null;
  #guessed: { settings: Settings; answer: Answer } | null = null;
  #drawn = '';

  constructor(root: HTMLElement, changed: () => void) {
    this.#root = root;
    root.addEventListener('change', ({ target }) => {
      if (!(target instanceof HTMLInputElement) || !this.#settings) return;
      this.#guessed = { settings: this.#settings, answer: target.value as Answer };
      changed();
    });
  }

  #answerFor(settings: Settings): Answer | null {
    const guessed = this.#guessed;
    return guessed && answers(guessed.settings, settings) ? guessed.answer : null;
  }

  /** `records`: the runs that answer it. */
  draw(settings: Settings, records: readonly RunRecord[], language: string): void {
    this.#settings = settings;
    const { budget } = taskCalled(settings.task, settings.text).defaults;
    const question = questionOf(settings);
    const begun = records.some(({ step }) => step > 0);
    const answer = this.#answerFor(settings);
    const outcome = begun ? outcomeOf(question, records, budget) : undefined;
    const key = [
      JSON.stringify(settings),
      begun,
      answer,
      outcome?.answer,
      outcome?.step,
      language,
    ].join();
    if (key === this.#drawn) return;
    this.#drawn = key;
    const asked = t(`learn.ask.${question}`, { budget });
    if (!begun) {
      this.#ask(asked, question, answer);
      return;
    }
    const said = answer ? t('learn.youSaid', { answer: t(`learn.say.${answer}`) }) : '';
    const open = question === 'layers' ? 'learn.outcome.openLayers' : 'learn.outcome.open';
    const told = outcome ? found(outcome) : t(open, { budget });
    this.#root.textContent = sentences(asked, said, told);
  }

  #ask(asked: string, question: keyof typeof ANSWERS, answer: Answer | null): void {
    const group = document.createElement('fieldset');
    const legend = document.createElement('legend');
    legend.textContent = asked;
    const choices = ANSWERS[question].map((each) => {
      const label = document.createElement('label');
      label.className = 'check';
      const input = document.createElement('input');
      Object.assign(input, {
        type: 'radio',
        name: 'learn-guess',
        value: each,
        checked: each === answer,
      });
      label.append(input, ` ${t(`learn.say.${each}`)}`);
      return label;
    });
    const hint = document.createElement('span');
    hint.className = 'hint';
    hint.textContent = t('learn.askHint');
    group.append(legend, ...choices, hint);
    const active = document.activeElement;
    const focused =
      active instanceof HTMLInputElement && this.#root.contains(active) ? active.value : null;
    this.#root.replaceChildren(group);
    if (focused) this.#root.querySelector<HTMLInputElement>(`[value=${focused}]`)?.focus();
  }
}
