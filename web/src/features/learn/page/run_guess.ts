import { sentences } from '../../../i18n/i18n';
import { ANSWERS, outcomeOf, questionOf, type Answer } from './guess_outcome';
import type { RunRecord } from './run_record';
import { sameSettings, taskCalled } from './settings_of_state';
import type { Settings } from '../shared/run_settings';
import { t } from '../feature';

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
    return guessed && sameSettings(guessed.settings, settings) ? guessed.answer : null;
  }

  draw(settings: Settings, record: RunRecord | null, language: string): void {
    this.#settings = settings;
    const { budget } = taskCalled(settings.task, settings.text).defaults;
    const question = questionOf(settings);
    const begun = record !== null && record.step > 0;
    const answer = this.#answerFor(settings);
    const outcome = begun ? outcomeOf(question, record, budget) : undefined;
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
    const found = outcome
      ? t(`learn.outcome.${outcome.answer}`, { step: outcome.step })
      : t('learn.outcome.open', { budget });
    this.#root.textContent = sentences(asked, said, found);
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
