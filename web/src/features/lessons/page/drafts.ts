// Lessons that are being written, kept on the device of their teacher until they are discarded.
import { readLesson, type Lesson } from './lesson';

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

/** The newest first. What was stored by others, or is damaged, is left out. */
export function readDrafts(): readonly Draft[] {
  try {
    const all: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]');
    return Array.isArray(all) ? all.flatMap(readDraft) : [];
  } catch {
    return []; // storage can be forbidden
  }
}

/** False: this browser keeps nothing, or has no room. Drafts of another tab stay. */
function write(drafts: readonly Draft[]): boolean {
  try {
    localStorage.setItem(KEY, JSON.stringify(drafts.slice(0, MOST)));
    return true;
  } catch {
    return false;
  }
}

const without = (id: string) => readDrafts().filter((draft) => draft.id !== id);

export const keepDraft = (draft: Draft): boolean => write([draft, ...without(draft.id)]);

export const discardDraft = (id: string): boolean => write(without(id));

/** Taken by the first change, which is stored at once: another tab then counts on from it. */
export const newDraftId = () =>
  String(1 + Math.max(0, ...readDrafts().map(({ id }) => Number(id) || 0)));
