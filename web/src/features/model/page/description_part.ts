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
  protected template(): string {
    return `
      <div class="model-description" hidden>
        <h3></h3>
        <dl class="numbers model-numbers"></dl>
        <p class="hint model-local"></p>
        <p class="note model-failed" role="alert" hidden></p>
      </div>`;
  }

  update({ model, state, look }: View): void {
    const { info, failed } = model;
    this.find('.model-description', HTMLElement).hidden = info === null;
    if (!info || !this.changed(info, failed, state.language, look)) return;
    this.setText('h3', loadedText(info));
    const rows = rowsOf(info).map(([term, value]) => {
      const row = document.createElement('div');
      const [dt, dd] = [document.createElement('dt'), document.createElement('dd')];
      dt.textContent = term;
      dd.textContent = value;
      row.append(dt, dd);
      return row;
    });
    this.find('dl', HTMLElement).replaceChildren(...rows);
    const notes = [t(info.name ? 'model.here' : 'model.local')];
    if (info.tokenizer === 'none') {
      const { unread } = info;
      notes.push(unread ? t('model.unreadTokenizer', { name: unread }) : t('model.noTokenizer'));
    }
    if (!info.speaks) notes.push(t('model.silent'));
    if (info.notDrawn) notes.push(t(`model.notDrawn.${info.notDrawn}`));
    this.setText('.model-local', sentences(...notes));
    const note = this.find('.model-failed', HTMLElement);
    note.hidden = failed === null;
    note.textContent = failed?.message ?? '';
  }
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
