// The page: starts the worker and stops it, and draws the loss that it tells. The page never waits for the training.
const [start, stop, status, canvas] = ['start', 'stop', 'status', 'plot'].map((id) =>
  document.getElementById(id),
);

let losses = [];
let highest = 1; // of the axis
let drawing = false;

function draw() {
  drawing = false;
  const scale = devicePixelRatio;
  const { clientWidth: width, clientHeight: height } = canvas;
  [canvas.width, canvas.height] = [width * scale, height * scale];
  const context = canvas.getContext('2d');
  context.scale(scale, scale);
  const { color } = getComputedStyle(canvas);
  [context.fillStyle, context.strokeStyle, context.lineWidth] = [color, color, 1.5];
  context.fillText(`loss ${highest.toFixed(1)}`, 0, 10);
  context.fillText(`0, step ${losses.length}`, 0, height - 4);
  context.beginPath();
  const bottom = height - 18;
  losses.forEach((loss, i) => {
    const x = (width * i) / Math.max(200, losses.length - 1);
    context.lineTo(x, bottom - (bottom - 18) * Math.min(1, loss / highest));
  });
  context.stroke();
}

/** Draws before the next frame, however many messages come until then. */
function drawSoon() {
  if (!drawing) requestAnimationFrame(draw);
  drawing = true;
}

const worker = new Worker(new URL('./worker.js', import.meta.url), { type: 'module' });

function running(is) {
  start.disabled = is;
  stop.disabled = !is;
}

function failed(message) {
  running(false);
  status.value = `failed: ${message}`;
}

start.addEventListener('click', () => {
  losses = [];
  running(true);
  status.value = 'starting';
  worker.postMessage({ start: { seed: 1 } });
});
stop.addEventListener('click', () => worker.postMessage({ stop: true }));

worker.addEventListener('error', () => failed('the worker cannot be loaded'));
worker.addEventListener('message', ({ data }) => {
  if (data.error !== undefined) return failed(data.error);
  if (data.even !== undefined) highest = data.even;
  if (data.losses) losses.push(...data.losses);
  if (data.accuracy !== undefined) {
    const percent = Math.round(100 * data.accuracy);
    status.value = `step ${losses.length}, ${percent} % of new rows right`;
  }
  if (data.ended !== undefined) {
    running(false);
    status.value += `; ${data.ended}`;
  }
  drawSoon();
});
addEventListener('resize', drawSoon);
