// A model taken apart, on whatever thread and in whatever engine it is: a text of every number.

const asked = { answer: 3, instead: 8 };
const read = [{ site: 'z' }, { site: 'scores' }];
const edit = [
  { site: 'residual', layer: 0, add: 0.5 },
  { site: 'z', layer: 1, head: 2, value: 0 },
];

/** `corrupt` has another token than `clean` somewhere. */
export async function apart(model, clean, corrupt) {
  const { logits, activations } = await model.forward(clean, { read, edit });
  const { parts, total } = await model.attribute(clean, asked);
  const { grid } = await model.sweep({ ...asked, clean, corrupt, site: 'attention' });
  const scores = await model.headScores({ seed: 3 });
  const guesses = await model.lens(clean, { top: 2 });
  const norms = await model.normWeights(clean, { layer: 1 });
  const arrays = [logits, activations.get('z', 1), activations.get('scores', 0), grid, norms];
  const numbers = arrays.map(({ data }) => Array.from(data, String));
  return JSON.stringify([numbers, parts, total, scores, guesses]);
}
