// The page: asks a worker for the weights whenever something changes, draws them, and writes them into a table.
import { init, toNested } from 'qkv/worker';
import { vectorsOf, wordsOf } from './words.js';

const ids = ['text', 'scale', 'causal', 'map', 'status', 'table'];
const [text, scale, causal, map, status, table] = ids.map((id) => document.getElementById(id));

const engine = init({ threads: 'auto' }); // as many as there are cores
let shown = { words: [], rows: [] };
let latest = new AbortController();

function draw() {
  const { words, rows } = shown;
  const side = map.clientWidth; // the style makes it a square
  const margin = side / 5; // for the words
  const cell = (side - margin) / words.length;
  map.width = map.height = side * devicePixelRatio;
  const context = map.getContext('2d');
  context.scale(devicePixelRatio, devicePixelRatio);
  const { color, font } = getComputedStyle(map);
  Object.assign(context, { fillStyle: color, font, textBaseline: 'middle' });
  for (const [t, word] of words.entries()) {
    const middle = margin + (t + 0.5) * cell;
    Object.assign(context, { globalAlpha: 1, textAlign: 'right' });
    context.fillText(word, margin - 8, middle, margin - 8);
    context.save();
    context.translate(middle, margin - 8);
    context.rotate(-Math.PI / 2);
    context.textAlign = 'left';
    context.fillText(word, 0, 0, margin - 8);
    context.restore();
    for (const [key, weight] of rows[t].entries()) {
      context.globalAlpha = weight;
      context.fillRect(margin + key * cell, margin + t * cell, cell - 1, cell - 1);
    }
  }
}

function tell() {
  const { words, rows } = shown;
  const make = (name, textContent) => Object.assign(document.createElement(name), { textContent });
  const line = (first, others) => {
    const row = document.createElement('tr');
    row.append(first, ...others);
    return row;
  };
  const heads = words.map((word) => make('th', word));
  table.tHead.replaceChildren(line(make('td', ''), heads));
  const weights = (row) => row.map((weight) => make('td', weight.toFixed(3)));
  const lines = rows.map((row, t) => line(make('th', words[t]), weights(row)));
  table.tBodies[0].replaceChildren(...lines);
}

async function update() {
  latest.abort(); // the answer to an older question has no use any more
  latest = new AbortController();
  const { signal } = latest;
  const words = wordsOf(text.value);
  const qkv = await engine;
  signal.throwIfAborted();
  let rows = [];
  if (words.length > 0) {
    const x = vectorsOf(words);
    const options = { numHeads: 1, scale: scale.valueAsNumber, causal: causal.checked };
    const { weights } = await qkv.attention(x, x, x, { ...options, returnWeights: true, signal });
    [[rows]] = toNested(weights); // of the only batch row, of the only head
  }
  shown = { words, rows };
  draw();
  tell();
  const { variant, threads } = qkv.info;
  status.value = `words: ${words.length}, build: ${variant}, threads: ${threads}`;
}

function ask() {
  update().catch((error) => {
    if (error.name !== 'AbortError') status.value = `failed: ${error.message}`;
  });
}

for (const control of [text, scale, causal]) control.addEventListener('input', ask);
addEventListener('resize', draw);
ask();
