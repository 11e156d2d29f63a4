// Parts of the panel of a trained model, each on a page of its own.
import { differences, linesOf } from './operate.js';

export const float = (...values) => Float32Array.from(values);

/** What a part, { part, show }, shows at first and then of one view after another, in lines; `look` goes before each view. */
export function linesOfViews({ part, show }, name, views, look) {
  let before = linesOf(part);
  const lines = [`=== ${name}`, ...before];
  for (const [what, view] of Object.entries(views)) {
    look();
    show(view);
    const now = linesOf(part);
    lines.push('', `== ${what}`, ...differences(before, now));
    before = now;
  }
  return [...lines, ''];
}

/** Parts of the panel, as `web` has them, in a window whose frames `rest` waits for. */
export function partsOf(web, rest) {
  let look = 1;
  function put(name, around = document.body) {
    const part = document.createElement(`qkv-model-${name}`);
    const asked = [];
    for (const event of ['state-change', 'model-tell']) {
      part.addEventListener(event, ({ detail }) => asked.push(detail));
    }
    around.append(part);
    return {
      ...{ part, asked, one: (selector) => part.querySelector(selector) },
      show({ state = {}, model = {}, answers = {} }) {
        web.setLanguage(state.language ?? 'en');
        const whole = { ...web.initialState('en'), ...state };
        part.update({ state: whole, model: { ...web.NO_MODEL, answers, ...model }, look });
      },
    };
  }
  /** What a part shows of one view after another, in lines. */
  async function shown(name, views) {
    const shown = put(name);
    await rest();
    return linesOfViews(shown, name, views, () => look++);
  }
  return { put, shown, lookAgain: () => ++look };
}
