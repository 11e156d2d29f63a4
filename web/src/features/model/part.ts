import { Panel } from '../../ui/panel';
import type { ToModel } from './protocol';

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

/** 0.88 MB: of a million bytes, as files are sold. */
export const megabytes = (bytes: number) =>
  bytes >= 1e6 || bytes === 0 ? `${(bytes / 1e6).toFixed(2)} MB` : `${Math.round(bytes / 1e3)} kB`;

/** 1,234,567: in both languages of the page. */
export const whole = (count: number) => count.toLocaleString('en-US');
