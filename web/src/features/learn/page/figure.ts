import { raster, stacked, text, type Drawing, type Figure } from '../../../ui/export_figure';
import { filePen } from '../../../ui/plot';
import { CURVE_HEIGHT, drawCurves, stepsOf } from './curves';
import { probeOf, scoresAt } from './head_maps';
import { LEVELS } from '../shared/noise_levels';
import type { NoiseNews, Snapshot } from '../shared/protocol';
import { drawNoise, NOISE_HEIGHT } from './noise_chart';
import { paintMap } from './paint_map';
import { shownOf, type RunRecord } from './run_record';
import type { Settings } from '../shared/run_settings';
import { t } from '../feature';
import { statusOf } from './status_texts';
import type { Training } from './training_client';

const WIDTH = 640;
const MAP = 132;

/** All maps of a moment, each with its scores below. */
function drawMaps({ settings }: RunRecord, snapshot: Snapshot): Drawing {
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
  return [Math.ceil(all / across) * (MAP + 40), maps.join('')];
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
  const names = ['run', 'step', 'loss', 'accuracy', 'heldLoss', 'heldAccuracy'] as const;
  return [names.map((name) => t(`learn.table.${name}`)), ...rows];
}

/** Before the first run there are the settings alone. */
function tableOfSettings(settings: Settings): (string | number)[][] {
  return [
    [t('learn.table.setting'), t('learn.table.value')],
    ...Object.entries(settings).map(([name, value]) => [name, String(value)]),
  ];
}

function tableOfNoise({ learned, optimal }: NoiseNews): (string | number)[][] {
  const rows = LEVELS.map((sigma, i) => [sigma, learned[i] ?? NaN, optimal[i] ?? NaN]);
  return [['σ', t('learn.table.weight'), t('learn.table.optimal')], ...rows];
}

/** Curves and maps of the runs as they are shown; the table has every step. */
export function learnFigure(training: Training, settings: Settings): Figure {
  const { current, kept, noise, looked } = training;
  const snapshot = current && shownOf(current, looked);
  const title = current && current.step > 0 ? statusOf(current) : t('learn.idle');
  // Two lines: as one it would be wider than the drawing.
  const lines = title.split(' · ');
  const words = [lines.slice(0, 2), lines.slice(2)].map((line, i) =>
    text(0, 14 + 16 * i, line.join(' · '), { 'font-weight': 600, 'font-size': 11 }),
  );
  const steps = stepsOf(training, settings);
  const drawings = (['accuracy', 'loss'] as const).map((measure): Drawing => {
    const input = { measure, current, kept, steps, looked };
    return [CURVE_HEIGHT, drawCurves(filePen, WIDTH, input)];
  });
  if (current && snapshot) drawings.push(drawMaps(current, snapshot));
  if (noise) drawings.push([NOISE_HEIGHT, drawNoise(filePen, WIDTH, noise)]);
  const { body, end } = stacked(drawings, { left: 0, top: 42 });
  const runs = [...(current ? [current] : []), ...[...kept].reverse()];
  return {
    name: 'learn',
    svg: {
      ...{ width: WIDTH + 24, height: end + 12 },
      body: `<g transform="translate(12 12)">${words.join('')}${body}</g>`,
    },
    table:
      runs.length > 0 ? tableOf(runs) : noise ? tableOfNoise(noise) : tableOfSettings(settings),
    data: { settings, runs: runs.map(dataOf), snapshot, noise },
  };
}

const dataOf = ({ settings, tuned, births, loss, accuracy, judged }: RunRecord) => ({
  ...{ settings, tuned, births, loss, accuracy, judged },
});
