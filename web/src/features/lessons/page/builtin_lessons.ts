import type { Language } from '../../../i18n/i18n';
import { PANEL_IDS } from '../../index';
import { readLesson, type Exercise, type Lesson } from './lesson';
import { PLANS, type Plan } from './lesson_plans';

/** The texts of a lesson; its panels, states and numbers are the same in all languages, see lesson_plans.ts. */
interface Words {
  readonly title: string;
  readonly goals: readonly string[];
  readonly steps: readonly {
    readonly title: string;
    readonly text: string;
    /** For teachers. */
    readonly notes?: string;
    /** More of the state: what depends on the language, such as a sentence. */
    readonly state?: string;
    /** The right choice is here where it depends on the language, too. */
    readonly exercises?: readonly Pick<Exercise, 'text' | 'choices' | 'right' | 'answers'>[];
  }[];
}
export type Contents = Readonly<Record<string, Words>>;

const CONTENTS = import.meta.glob<Contents>('../content_*.json', { import: 'default' });

/** Plan and words of a lesson as one, with the steps whose panels this page does not have. */
function together(plan: Plan, words: Words): unknown {
  const steps = plan.steps.map((step, i) => {
    const { exercises = [], state, ...texts } = words.steps[i] ?? {};
    return {
      ...{ ...step, ...texts },
      state: [step.state, state].filter(Boolean).join('&'),
      exercises: exercises.map((exercise, e) => ({ ...exercise, ...step.exercises?.[e] })),
    };
  });
  return { ...words, minutes: plan.minutes, steps };
}

export interface Listed {
  readonly name: string;
  readonly chapter: Plan['chapter'];
  readonly lesson: Lesson;
}

/** Of a lesson of a panel that is not there nothing would be left to see. */
const isWhole = ({ about }: Plan) => about === undefined || PANEL_IDS.some((id) => id === about);

/** All lessons that the page has, in their order. */
export async function allLessons(language: Language): Promise<readonly Listed[]> {
  const contents = await CONTENTS[`../content_${language}.json`]?.();
  return PLANS.filter(isWhole).flatMap((plan) => {
    const words = contents?.[plan.name];
    const lesson = words ? readLesson(together(plan, words)) : null;
    return lesson ? [{ name: plan.name, chapter: plan.chapter, lesson }] : [];
  });
}
