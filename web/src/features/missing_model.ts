import { modelOf, namedAs } from './model/state';
import { t } from '../i18n/i18n';
import type { View } from './panel';

type Seen = Pick<View, 'state' | 'model'>;

/** What the link wants to be shown: one of the page's models, or a file of its sender. */
const wanted = ({ state }: Seen): string => state.modelFile ?? modelOf(state, state.language);

/** Why there are no heads of a trained model, and what can be done; null: there is a model, whose text is empty. */
export function missingModel(view: Seen): string | null {
  const { state, model } = view;
  if (model.info) return model.info.notDrawn === null ? null : t('controls.notDrawn');
  const key = state.modelFile === null ? 'controls.noModel' : 'controls.noOwnModel';
  return t(key, { name: wanted(view) });
}

/** A sentence where the model that is loaded is not the one that the link names; '' where it is, or there is none. */
export function otherModel(view: Seen): string {
  const { info } = view.model;
  if (!info) return '';
  const { model, modelFile } = namedAs(info);
  const shown = modelFile ?? model ?? '';
  const named = wanted(view);
  return shown === named ? '' : t('controls.otherModel', { named, shown });
}
