import { t } from '../i18n/i18n';
import type { LinkProblem } from '../state/state';
import { Panel, type View } from '../features/panel';

/** Letters shown of what a link says and this page does not know. */
const MOST_PARTS = 3;
const LONGEST_PART = 40;

function sentenceOf(problem: LinkProblem): string {
  if (problem.kind === 'unread') {
    const what = problem.parts.slice(0, MOST_PARTS).map((part) => part.slice(0, LONGEST_PART));
    return t('link.unread', { what: what.join(', ') });
  }
  const { version } = problem;
  return version === '' ? t('link.noVersion') : t('link.version', { version: version.slice(0, 8) });
}

/** Says so where a link does not lead to what its sender saw. */
export class LinkNotePanel extends Panel {
  protected template(): string {
    return `
      <div class="link-note note" hidden>
        <p role="status"></p>
        <button type="button" class="button" data-t="link.close"></button>
      </div>`;
  }

  protected override ready(): void {
    this.find('button', HTMLElement).addEventListener('click', () => {
      this.dispatchEvent(new CustomEvent('link-note-read', { bubbles: true }));
    });
  }

  update({ linkProblem }: View): void {
    this.find('.link-note', HTMLElement).hidden = linkProblem === null;
    this.setText('p', linkProblem ? sentenceOf(linkProblem) : '');
  }
}
