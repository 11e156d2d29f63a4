// Lessons that are being written, kept on the device of their teacher until they are discarded.
import { readLesson, type Lesson } from './lesson';
import { readList, writeList } from './stored_list';

const KEY = 'qkv-lesson-drafts';
/** The oldest goes when there are more. */
const MOST = 12;

export interface Draft {
  readonly id: string;
  readonly lesson: Lesson;
}

/** Goals and steps that are blank yet are no mistake in a draft. */
function readDraft(raw: unknown): Draft[] {
  if (typeof raw !== 'object' || raw === null || !('id' in raw) || !('lesson' in raw)) return [];
  const { id, lesson: written } = raw;
  if (typeof id !== 'string' || typeof written !== 'object' || written === null) return [];
  const whole = readLesson(written);
  const blank = readLesson({ ...written, steps: [{ text: '-' }] });
  const lesson = whole ?? (blank && { ...blank, steps: [] });
  return lesson ? [{ id, lesson }] : [];
}

/** The newest first. */
export const readDrafts = (): readonly Draft[] => readList(KEY, readDraft);

/** Drafts of another tab stay. */
const write = (drafts: readonly Draft[]): boolean => writeList(KEY, drafts.slice(0, MOST));

const without = (id: string) => readDrafts().filter((draft) => draft.id !== id);

export const keepDraft = (draft: Draft): boolean => write([draft, ...without(draft.id)]);

export const discardDraft = (id: string): boolean => write(without(id));

/** Taken by the first change, which is stored at once: another tab then counts on from it. */
export const newDraftId = () =>
  String(1 + Math.max(0, ...readDrafts().map(({ id }) => Number(id) || 0)));
