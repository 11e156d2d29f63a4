// Parts of the panel of a trained model, each on a page of its own.

export const float = (...values) => Float32Array.from(values);

/** Parts of the panel, as `web` has them; what a view does not say is as it is at first, with this model. */
export function partsOf(web, info) {
  let look = 1;
  const first = info === undefined ? web.NO_MODEL : { ...web.NO_MODEL, info };
  function put(name, around = document.body) {
    const part = document.createElement(`qkv-model-${name}`);
    const asked = [];
    for (const event of ['state-change', 'model-tell']) {
      part.addEventListener(event, ({ detail }) => asked.push(detail));
    }
    around.append(part);
    const one = (selector) => part.querySelector(selector);
    const all = (selector) => [...part.querySelectorAll(selector)];
    return {
      ...{ part, asked, one, all },
      text: (selector) => one(selector).textContent,
      texts: (selector) => all(selector).map(({ textContent }) => textContent),
      show({ state = {}, model = {}, answers = {} } = {}) {
        web.setLanguage(state.language ?? 'en');
        const whole = { ...web.initialState(state.language ?? 'en'), ...state };
        part.update({ state: whole, model: { ...first, answers, ...model }, look });
      },
    };
  }
  return { put, lookAgain: () => ++look };
}
