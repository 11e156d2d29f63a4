import { raster, text, type Figure } from '../../ui/figure';
import { filePen } from '../../ui/plot';
import { CURVE_HEIGHT, drawCurves } from './curves';
import { probeOf, scoresAt } from './maps';
import { drawNoise, NOISE_HEIGHT } from './noise_chart';
import { paintMap } from './paint';
import type { Snapshot } from './protocol';
import type { RunRecord } from './record';
import { shownOf, stepsOf } from './screen';
import { t } from './texts';
import { statusOf } from './told';
import type { Training } from './training';

const WIDTH = 640;
const MAP = 132;

/** All maps of a moment, each with its scores below. */
function drawMaps({ settings }: RunRecord, snapshot: Snapshot): { body: string; height: number } {
  const side = probeOf(settings).row.ids.length;
  const across = Math.min(settings.heads, Math.floor(WIDTH / (MAP + 12)));
  const all = settings.layers * settings.heads;
  const canvas = document.createElement('canvas');
  const maps = Array.from({ length: all }, (_, index) => {
    const [x, y] = [(index % across) * (MAP + 12), Math.floor(index / across) * (MAP + 40)];
    paintMap(canvas, snapshot.weights, index * side * side, side);
    const name = {
      layer: Math.floor(index / settings.heads) + 1,
      head: (index % settings.heads) + 1,
    };
    const scores = scoresAt(snapshot, settings, index)
      .map(({ id, value }) => `${t(`learn.short.${id}`)} ${value.toFixed(2)}`)
      .join('  ');
    return (
      text(x, y + 12, t('learn.mapName', name), { 'font-size': 11 }) +
      raster(canvas, [x, y + 16, MAP, MAP]).replace(
        '<image',
        '<image style="image-rendering:pixelated"',
      ) +
      text(x, y + MAP + 29, scores, { 'font-size': 11 })
    );
  });
  return { body: maps.join(''), height: Math.ceil(all / across) * (MAP + 40) };
}

function tableOf(records: readonly RunRecord[]): (string | number)[][] {
  const rows = records.flatMap((record, run) =>
    Array.from(record.loss, (loss, step) => {
      const judged = record.judged.find((each) => each.step === step);
      return [
        ...[run, step, loss, record.accuracy[step] ?? ''],
        ...[judged?.loss ?? '', judged?.accuracy ?? ''],
      ];
    }),
  );
  return [['run', 'step', 'loss', 'accuracy', 'held-out loss', 'held-out accuracy'], ...rows];
}

/** Curves and maps of the runs as they are shown; the table has every step. */
export function learnFigure(training: Training): Figure | null {
  const { current, kept, noise } = training;
  if (!current) return noise ? noiseFigure(training) : null;
  const snapshot = shownOf(current, training.looked);
  const parts: string[] = [text(0, 14, statusOf(current), { 'font-weight': 700, 'font-size': 11 })];
  let height = 26;
  const add = (body: string, tall: number) => {
    parts.push(`<g transform="translate(0 ${height})">${body}</g>`);
    height += tall + 12;
  };
  for (const measure of ['accuracy', 'loss'] as const) {
    const input = {
      measure,
      current,
      kept,
      steps: stepsOf(training, current.settings),
      looked: training.looked,
    };
    add(drawCurves(filePen, WIDTH, input), CURVE_HEIGHT);
  }
  if (snapshot) {
    const { body, height: tall } = drawMaps(current, snapshot);
    add(body, tall);
  }
  const records = [current, ...[...kept].reverse()];
  const data = records.map(({ settings, births, loss, accuracy, judged }) => {
    return { settings, births, loss, accuracy, judged };
  });
  return {
    name: 'learn',
    svg: {
      width: WIDTH + 24,
      height: height + 12,
      body: `<g transform="translate(12 12)">${parts.join('')}</g>`,
    },
    table: tableOf(records),
    data: { runs: data, snapshot, noise },
  };
}

function noiseFigure({ noise }: Training): Figure | null {
  if (!noise) return null;
  return {
    name: 'learn',
    svg: { width: WIDTH, height: NOISE_HEIGHT, body: drawNoise(filePen, WIDTH, noise) },
    table: [['learned', '1/sigma^2'], ...noise.learned.map((w, i) => [w, noise.optimal[i] ?? NaN])],
    data: { noise },
  };
}
