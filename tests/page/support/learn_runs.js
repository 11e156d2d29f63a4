// Runs of the panel "Watch it learn" of which a test knows everything.

export const judgedAt = (...accuracies) =>
  accuracies.map((accuracy, i) => ({
    step: 5 * i,
    loss: 3 / (i + 1),
    accuracy,
    best: [0.25, 0.5],
  }));

/** Settings, records and moments made with what `web` has of the panel. */
export function runsOf(web) {
  const initial = web.initialState('en');
  const settingsFor = (task, patch) => ({
    ...web.settingsOf({ ...initial, learnTask: task }, 'the page has this text of its own'),
    ...patch,
  });
  /** A run of which this is known. */
  function recordOf(settings, { step, judged = [], births = [], seconds = null, ...more } = {}) {
    const record = new web.RunRecord(1, settings);
    record.add(
      {
        ...{ step, judged, births, snapshot: null, writing: null, rate: 29.5, parameters: 12345 },
        ...{ tuned: [], learningRate: 0.003 },
        ...{ loss: new Float32Array(), accuracy: new Float32Array(), ...more },
      },
      seconds,
    );
    return record;
  }
  /** Weights of the heads of a run, and scores that say whose they are. */
  function momentOf({ task, layers, heads }, step = 3) {
    const side = web.probeOf(settingsFor(task)).row.ids.length;
    const weights = Float32Array.from(
      { length: layers * heads * side * side },
      (_, i) => ((i * 7) % 257) / 256,
    );
    const scores = Float32Array.from({ length: 3 * layers * heads }, (_, i) => i / 16);
    return {
      step,
      weights,
      scores,
      answers: new Int32Array(side),
      certainty: new Float32Array(side),
    };
  }

  return { initial, settingsFor, recordOf, momentOf };
}
