import { Panel } from '../../panel';
import type { ToModel } from '../shared/protocol';

/** A part of the panel: it can speak to the model's worker. */
export abstract class ModelPart extends Panel {
  protected tell(message: ToModel): void {
    this.dispatchEvent(new CustomEvent('model-tell', { bubbles: true, detail: message }));
  }

  /** A button of this part. */
  protected onClick(selector: string, act: () => void): void {
    this.find(selector, HTMLElement).addEventListener('click', act);
  }
}
