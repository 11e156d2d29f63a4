import { html, type TemplateResult } from 'lit-html';
import { guard } from 'lit-html/directives/guard.js';
import { drawn } from '../../../ui/lit/plots';
import type { Content } from '../../../ui/lit/texts';
import { CHART_HEIGHT, drawAccuracy, drawCost, drawReach } from './plots';
import type { LatestNews } from './latest_news';
import { t } from '../feature';
import { REPEATS } from '../shared/timing_settings';
import {
  accuracyLabel,
  accuracyWords,
  costLabel,
  costWords,
  reachLabel,
  reachWords,
} from './sentences';

const part = (name: 'accuracy' | 'reach' | 'cost', ...contents: readonly Content[]) => html`
  <section class="recurrence-part" data-chart=${name}>
    <h3>${t(`recurrence.${name}`)}</h3>${contents}
  </section>`;

const plot = (label: string, draw: (width: number) => string, isHidden = false) =>
  html`<div class="plot-stage" ?hidden=${isHidden} ${drawn({ height: CHART_HEIGHT, label, draw })}></div>`;

const words = (sentences: readonly string[]) =>
  html`<div class="recurrence-words">${sentences.map((each) => html`<p>${each}</p>`)}</div>`;

// A plot is drawn, and the sentences below it are made, where something that they are made of is another.

export function accuracyChart({ counted, progress }: LatestNews, look: number): TemplateResult {
  const loaded = progress?.origin === 'before';
  const tallies = counted?.tallies ?? null;
  const drawing = guard([counted, loaded, look], () => [
    plot(accuracyLabel(tallies), (width) => drawAccuracy('page', width, tallies)),
    words(counted ? accuracyWords(counted, loaded) : []),
  ]);
  return part('accuracy', drawing);
}

export function reachChart({ reached }: LatestNews, look: number): TemplateResult {
  const drawing = guard([reached, look], () => [
    plot(reached ? reachLabel(reached) : t('recurrence.reach'), (width) =>
      drawReach('page', width, reached),
    ),
    html`<p>${t('recurrence.reachIntro')}</p>`,
    words(reached ? reachWords(reached) : []),
  ]);
  return part('reach', drawing);
}

/** What is said of the times when they are all there. */
export function costSentences({ timings, timed }: LatestNews): string[] {
  if (timed?.part !== 1) return [];
  const { variant } = timed;
  return [...costWords(timings), t('recurrence.measured', { repeats: REPEATS, variant })];
}

export function costChart(known: LatestNews, look: number, tools: Content): TemplateResult {
  const { timings, timed } = known;
  const drawing = guard([timings, timed?.part === 1, look], () => [
    plot(costLabel(timings), (width) => drawCost('page', width, timings), timings.length === 0),
    words(costSentences(known)),
  ]);
  return part('cost', tools, drawing);
}
