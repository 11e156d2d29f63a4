import { svgFile } from '../../../ui/export_figure';
import { find } from '../../../ui/dom';
import { Panel } from '../../panel';
import type { PanelId } from '../../index';
import type { Host } from './page_api';

/** The longest a figure is waited for, in milliseconds. */
const PATIENCE = 6000;

const frame = () => new Promise(requestAnimationFrame);

/** When everything that was requested is drawn, or has taken too long; twice in a row, as it may request more. */
export async function settled(host: Host): Promise<void> {
  const deadline = performance.now() + PATIENCE;
  for (let calm = 0; calm < 3 && performance.now() < deadline;) {
    await frame();
    calm = host.settled ? calm + 1 : 0;
  }
}

/** The panel's figure as it stands, as a picture for paper; null while it has none. */
export async function pictureOf(id: PanelId, host: Host): Promise<HTMLImageElement | null> {
  const panel = document.querySelector(`qkv-panel-${id}`);
  if (!(panel instanceof Panel)) return null;
  try {
    const figure = await panel.figure?.(host.view(), (wanted) => host.client.tensors(wanted));
    if (!figure) return null;
    const image = new Image(figure.svg.width, figure.svg.height);
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svgFile(figure.svg, ''))}`;
    image.alt = find(document, `#${id}-title`, HTMLElement).textContent;
    await image.decode();
    return image;
  } catch {
    return null; // without it the worksheet still has its texts
  }
}
