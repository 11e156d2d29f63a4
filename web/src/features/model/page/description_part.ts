import { html, type TemplateResult } from 'lit-html';
import { sentences } from '../../../i18n/i18n';
import type { View } from '../../panel';
import { bytes as written, duration, whole } from '../../../ui/numbers';
import { ModelPart } from './model_part';
import type { ModelInfo } from '../shared/protocol';
import { t } from '../feature';

/** That this model has been loaded. */
export const loadedText = ({ name, file }: ModelInfo) =>
  t('model.loaded', { name: name ? t(`model.${name}.name`) : file });

/** What the loaded model is. */
export class DescriptionPart extends ModelPart {
  protected inputs({ model, look }: View): readonly unknown[] {
    return [model.info, model.failed, look];
  }

  protected render({ model: { info, failed } }: View): TemplateResult {
    if (!info) return html`<div class="model-description" hidden></div>`;
    const row = ([term, value]: readonly [string, string]) =>
      html`<div><dt>${term}</dt><dd>${value}</dd></div>`;
    return html`<div class="model-description">
      <h3>${loadedText(info)}</h3>
      <dl class="numbers model-numbers">${rowsOf(info).map(row)}</dl>
      <p class="hint model-local">${notesOf(info)}</p>
      <p class="note model-failed" role="alert" ?hidden=${failed === null}>${failed?.message}</p>
    </div>`;
  }
}

function notesOf({ name, tokenizer, unread, speaks, notDrawn }: ModelInfo): string {
  const notes = [t(name ? 'model.here' : 'model.local')];
  if (tokenizer === 'none') {
    notes.push(unread ? t('model.unreadTokenizer', { name: unread }) : t('model.noTokenizer'));
  }
  if (!speaks) notes.push(t('model.silent'));
  if (notDrawn) notes.push(t(`model.notDrawn.${notDrawn}`));
  return sentences(...notes);
}

function rowsOf(info: ModelInfo): [term: string, value: string][] {
  const { types, format, bytes, fileBytes, time } = info;
  const numbers = types.slice(0, 3).map(([type, count]) => `${type} ${whole(count)}`);
  return [
    [t('model.is.family'), info.family || t('model.is.own')],
    [t('model.is.parameters'), whole(info.parameters)],
    [
      t('model.is.shape'),
      t('model.is.layers', { layers: info.numLayers, heads: info.numHeads, width: info.dModel }),
    ],
    [t('model.is.vocabulary'), whole(info.vocabulary)],
    [t('model.is.length'), whole(info.maxLength)],
    [t('model.is.positions'), info.positions],
    [t('model.is.file'), [written(fileBytes), ...numbers].join(' · ')],
    [t('model.is.memory'), `${written(bytes)} · ${format}`],
    [t('model.is.time'), duration(time)],
  ];
}
