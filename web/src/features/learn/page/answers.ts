import { html, type TemplateResult } from 'lit-html';
import { probeOf } from './head_maps';
import type { Snapshot, Writing } from '../shared/protocol';
import { taskCalled } from './settings_of_state';
import type { Settings } from '../shared/run_settings';

/** How many answers to the probe are right, of how many questions. */
export function rightOf(
  settings: Settings,
  { answers }: Snapshot,
): { right: number; count: number } {
  const { targets } = probeOf(settings).row;
  const isRight = (target: number, place: number) => target >= 0 && answers[place] === target;
  return {
    right: targets.filter(isRight).length,
    count: targets.filter((target) => target >= 0).length,
  };
}

/** The probe token by token: what is read, what the model answers, and what is right. */
export function tokensOf(settings: Settings, snapshot: Snapshot | null): TemplateResult[] {
  const { row, words } = probeOf(settings);
  const { answers } = taskCalled(settings.task, settings.text);
  return row.targets.map((target, place) => {
    const read = html`<span class="learn-read">${words[place] ?? ''}</span>`;
    if (target < 0) {
      return html`<li>${read}<span class="learn-answer"></span><span class="learn-right"></span></li>`;
    }
    const answer = snapshot?.answers[place];
    const verdict = answer === target ? 'has-target is-right' : 'has-target is-wrong';
    const said = answer === undefined ? '·' : (answers[answer] ?? '?');
    return html`<li class=${snapshot ? verdict : 'has-target'}>${read}<span class="learn-answer">${said}</span><span class="learn-right">${answers[target] ?? ''}</span></li>`;
  });
}

/** What the model wrote by itself, its mistakes marked. */
export function writtenOf(settings: Settings, { given, written, right }: Writing): TemplateResult {
  const { words, answers } = taskCalled(settings.task, settings.text);
  const mark = (id: number, i: number) => {
    const word = answers[id] ?? words[id] ?? '?';
    return id === right[i] ? html`<span>${word}</span>` : html`<del>${word}</del>`;
  };
  const begin = given.map((id) => words[id] ?? '').join('');
  return html`<span class="learn-given">${begin}</span>${written.map(mark)}`;
}

export function rightText(settings: Settings, { right }: Writing): string {
  const { answers } = taskCalled(settings.task, settings.text);
  return right.map((id) => answers[id] ?? '').join('');
}
