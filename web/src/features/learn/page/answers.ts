import { setText } from '../../../ui/dom';
import { probeOf } from './head_maps';
import type { Snapshot, Writing } from '../shared/protocol';
import { taskCalled } from './settings_of_state';
import type { Settings } from '../shared/run_settings';

/** The probe token by token: what is read, what the model answers, and what is right. */
export class Answers {
  readonly #list: HTMLElement;
  #made = '';

  constructor(list: HTMLElement) {
    this.#list = list;
  }

  #make(settings: Settings, language: string): void {
    const made = `${settings.task} ${settings.text} ${language}`;
    if (made === this.#made) return;
    this.#made = made;
    const { row, words } = probeOf(settings);
    const { answers } = taskCalled(settings.task, settings.text);
    this.#list.replaceChildren(
      ...row.targets.map((target, place) => {
        const item = document.createElement('li');
        const right = target < 0 ? '' : (answers[target] ?? '');
        for (const [kind, text] of [
          ['read', words[place] ?? ''],
          ['answer', ''],
          ['right', right],
        ] as const) {
          const part = document.createElement('span');
          part.className = `learn-${kind}`;
          part.textContent = text;
          item.append(part);
        }
        item.classList.toggle('asked', target >= 0);
        return item;
      }),
    );
  }

  /** Returns how many answers are right, of how many that are asked for. */
  draw(settings: Settings, snapshot: Snapshot | null, language: string): readonly [number, number] {
    this.#make(settings, language);
    const { row } = probeOf(settings);
    const { answers } = taskCalled(settings.task, settings.text);
    let right = 0;
    row.targets.forEach((target, place) => {
      const item = this.#list.children[place];
      const shown = item?.querySelector('.learn-answer');
      if (!item || !shown || target < 0) return;
      const answer = snapshot?.answers[place];
      const isRight = answer === target;
      if (isRight) right++;
      setText(shown, answer === undefined ? '·' : (answers[answer] ?? '?'));
      item.classList.toggle('is-right', isRight);
      item.classList.toggle('is-wrong', snapshot !== null && !isRight);
    });
    return [right, row.targets.filter((target) => target >= 0).length];
  }
}

/** What the model wrote by itself, its mistakes marked. */
export function writingNodes(settings: Settings, { given, written, right }: Writing): Node[] {
  const { words, answers } = taskCalled(settings.task, settings.text);
  const begin = document.createElement('span');
  begin.className = 'learn-given';
  begin.textContent = given.map((id) => words[id] ?? '').join('');
  const marks = written.map((id, i) => {
    const mark = document.createElement(id === right[i] ? 'span' : 'del');
    mark.textContent = answers[id] ?? words[id] ?? '?';
    return mark;
  });
  return [begin, ...marks];
}

export function rightText(settings: Settings, { right }: Writing): string {
  const { answers } = taskCalled(settings.task, settings.text);
  return right.map((id) => answers[id] ?? '').join('');
}
