// Whether a constraint takes a text, and texts that it takes, by the definition of its rules: nothing of the package follows them here.

/** [from, ...] records of a list. */
const records = (list, width) =>
  Array.from({ length: list.length / width }, (_, i) => [
    ...list.slice(width * i, width * i + width),
  ]);

/** The rules with edges and calls by state. */
export function rulesOf({ rules }) {
  return rules.map(({ states, edges, calls, accepting }) => {
    const all = Array.from({ length: states }, () => ({ edges: [], calls: [], isEnd: false }));
    for (const [from, low, high, to] of records(edges, 4)) all[from].edges.push([low, high, to]);
    for (const [from, rule, to] of records(calls, 3)) all[from].calls.push([rule, to]);
    for (const state of accepting) all[state].isEnd = true;
    return all;
  });
}

/** What says of texts whether the constraint takes them: where the text of each rule can end, from each place on. */
export function acceptorOf(constraint) {
  const rules = rulesOf(constraint);
  return (text) => {
    const bytes = typeof text === 'string' ? new TextEncoder().encode(text) : text;
    const known = new Map();
    const endsOf = (rule, begin) => {
      const key = `${rule} ${begin}`;
      if (known.has(key)) return known.get(key);
      const ends = new Set();
      const seen = new Set();
      const open = [[0, begin]];
      for (const [state, at] of open) {
        if (seen.has(`${state} ${at}`)) continue;
        seen.add(`${state} ${at}`);
        const { edges, calls, isEnd } = rules[rule][state];
        if (isEnd) ends.add(at);
        for (const [low, high, to] of edges)
          if (at < bytes.length && bytes[at] >= low && bytes[at] <= high) open.push([to, at + 1]);
        for (const [inner, to] of calls) for (const end of endsOf(inner, at)) open.push([to, end]);
      }
      known.set(key, ends);
      return ends;
    };
    return endsOf(0, 0).has(bytes.length);
  };
}

/** A text of a constraint, by random steps; the more steps it has, the sooner it ends. `random` is in [0, 1). */
export function walkerOf(constraint) {
  const rules = rulesOf(constraint);
  /** How many steps each state is from the end of its rule, at least. */
  const costs = rules.map((states) => states.map(({ isEnd }) => (isEnd ? 0 : Infinity)));
  for (let changes = true; changes;) {
    changes = false;
    rules.forEach((states, rule) => {
      states.forEach(({ edges, calls }, state) => {
        const options = [
          ...edges.map(([, , to]) => 1 + costs[rule][to]),
          ...calls.map(([inner, to]) => 1 + costs[inner][0] + costs[rule][to]),
        ];
        const least = Math.min(costs[rule][state], ...options);
        if (least < costs[rule][state]) {
          costs[rule][state] = least;
          changes = true;
        }
      });
    });
  }
  return (random, patience = 60) => {
    const bytes = [];
    const walk = (rule) => {
      for (let state = 0; ;) {
        const { edges, calls, isEnd } = rules[rule][state];
        const isHurried = bytes.length > patience * random();
        const moves = [
          ...edges.map(([low, high, to]) => ({ low, high, to, cost: 1 + costs[rule][to] })),
          ...calls.map(([inner, to]) => ({
            inner,
            to,
            cost: 1 + costs[inner][0] + costs[rule][to],
          })),
        ].filter(({ cost }) => cost < Infinity);
        if (isEnd && (moves.length === 0 || isHurried || random() < 0.3)) return;
        const best = Math.min(...moves.map(({ cost }) => cost));
        const few = isHurried ? moves.filter(({ cost }) => cost === best) : moves;
        const move = few[Math.floor(random() * few.length)];
        if (move.inner === undefined)
          bytes.push(move.low + Math.floor(random() * (move.high - move.low + 1)));
        else walk(move.inner);
        state = move.to;
      }
    };
    walk(0);
    return Uint8Array.from(bytes);
  };
}

/** Numbers in [0, 1) from a seed (mulberry32). */
export function randomOf(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
