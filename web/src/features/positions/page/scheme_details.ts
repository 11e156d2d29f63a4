import { html, nothing, type TemplateResult } from 'lit-html';
import { radios } from '../../../ui/lit/controls';
import { numberList } from '../../../ui/lit/tables';
import type { Cell } from '../../../ui/matrix/cell';
import { digits } from '../../../ui/numbers';
import type { State } from '../../../state/state';
import { t } from '../feature';
import {
  BUCKETS,
  FAR,
  NEAR,
  SPAN,
  T5_HEADS,
  T5_LENGTH,
  T5_STEPS,
  XL_TERMS,
  type XlTerm,
} from '../shared/constants';
import type { SchemeMap } from '../worker/scheme_maps';

type T5 = NonNullable<SchemeMap['t5']>;
type Xl = NonNullable<SchemeMap['xl']>;
type Change = (patch: Partial<State>) => void;

const HEADS = Array.from({ length: T5_HEADS }, (_, head) => head);
const SIDE = BUCKETS / 2;

export const bucketAt = ({ buckets }: T5, { row, col }: Cell): number =>
  buckets[col - row + T5_LENGTH - 1]!;

const decimals = (bias: number) => bias.toFixed(1).replace('-', '−');

/** The distances that share a bucket before the query: 8–11, or 91+ where it has no end. */
function distancesOf({ buckets }: T5, bucket: number): string {
  const before = buckets.subarray(0, T5_LENGTH);
  const [most, least] = [before.indexOf(bucket), before.lastIndexOf(bucket)].map(
    (at) => T5_LENGTH - 1 - at,
  ) as [number, number];
  if (bucket === SIDE - 1) return `${least}+`;
  return least === most ? String(least) : `${least}–${most}`;
}

/** The table of biases: each row has a bucket for keys before the query, and one for those after it. */
function biasTable(t5: T5, shown: Cell): TemplateResult {
  const here = bucketAt(t5, shown);
  const cells = (bucket: number) =>
    HEADS.map((head) => {
      const has = bucket !== SIDE; // distance 0 is in the first bucket: this one stays as it was
      const bias = t5.table[bucket * HEADS.length + head]!;
      const marks = [head === t5.head ? 'of-head' : '', bucket === here ? 'here' : ''].join(' ');
      return html`<td class=${marks}>${has ? decimals(bias) : '–'}</td>`;
    });
  const names = HEADS.map((head) => html`<th scope="col">${head + 1}</th>`);
  return html`<div class="scrolled" tabindex="0" role="region" aria-label=${t('scheme.t5Table')}><table class="t5-table">
    <caption>${t('scheme.t5Table')}</caption>
    <thead>
      <tr><td></td><th scope="colgroup" colspan=${HEADS.length}>${t('scheme.t5Before')}</th>
        <th scope="colgroup" colspan=${HEADS.length}>${t('scheme.t5After')}</th></tr>
      <tr><th scope="col">|i − j|</th>${names}${names}</tr>
    </thead>
    <tbody>${Array.from(
      { length: SIDE },
      (_, n) => html`
      <tr><th scope="row">${distancesOf(t5, n)}</th>${cells(n)}${cells(SIDE + n)}</tr>`,
    )}</tbody>
  </table></div>`;
}

const segments = (className: string, legend: string, choices: unknown): TemplateResult =>
  html`<fieldset class=${className} data-control><legend class="visually-hidden">${legend}</legend>${choices}</fieldset>`;

function t5Choice(t5: T5, change: Change): TemplateResult {
  const { head, before, after } = t5;
  const choices = HEADS.map((at) => [String(at), t('scheme.t5Head', { head: at + 1 })] as const);
  const tasks = ['t5Task0', 't5Task1', 't5Task2', 't5Task3'] as const;
  const task = t(`scheme.${tasks[head]!}`, { near: NEAR, far: FAR });
  const errors = { before: digits(before[head]!, 2), after: digits(after[head]!, 2) };
  return html`
    <p>${t('scheme.t5Trained', { steps: T5_STEPS, length: T5_LENGTH })}</p>
    ${segments(
      'segmented',
      t('scheme.t5Choose'),
      radios('t5Head', choices, String(head), (at) => change({ t5Head: Number(at) })),
    )}
    <p class="t5-task">${t('scheme.t5Task', { head: head + 1, task, ...errors })}</p>`;
}

function xlChoice(xl: Xl, change: Change): TemplateResult {
  const choices = XL_TERMS.map((term) => [term, t(`scheme.xlTerm.${term}`)] as const);
  return segments(
    'segmented wrapped',
    t('scheme.xlChoose'),
    radios('xlTerm', choices, xl.term, (xlTerm) => change({ xlTerm })),
  );
}

/** The four terms of the cell that is shown, and their sum. */
function xlParts(xl: Xl, { row, col }: Cell): TemplateResult {
  const value = (term: XlTerm) => digits(xl[term][row * SPAN + col]!, 4);
  const parts = {
    a: value('a'),
    b: value('b'),
    c: value('c'),
    d: value('d'),
    score: value('score'),
  };
  return html`
    <p>${t('scheme.xlParts', { row, col })}</p>
    ${numberList(parts, (term) => t(`scheme.xlPart.${term}`))}`;
}

type Part = TemplateResult | typeof nothing;

/** What only this scheme lets choose: the head of a table that was trained, or a part of the score. */
export const schemeChoice = ({ t5, xl }: SchemeMap, change: Change): Part =>
  t5 ? t5Choice(t5, change) : xl ? xlChoice(xl, change) : nothing;

/** What only this scheme has below its map: the table, or the parts of the cell that is shown. */
export const schemeDetails = ({ t5, xl }: SchemeMap, shown: Cell): Part =>
  t5 ? biasTable(t5, shown) : xl ? xlParts(xl, shown) : nothing;
