/** The element that `selector` names; it is a mistake of ours when it is not there. */
export function find<E extends Element>(root: ParentNode, selector: string, type: new () => E): E {
  const element = root.querySelector(selector);
  if (!(element instanceof type)) throw new Error(`nothing here is a ${type.name} ${selector}`);
  return element;
}

/** Gives an element a text, and leaves it alone if it has it: a text that is replaced may be read out again. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

export function context2d(
  canvas: HTMLCanvasElement,
  settings?: CanvasRenderingContext2DSettings,
): CanvasRenderingContext2D {
  const context = canvas.getContext('2d', settings);
  if (!context) throw new Error('this browser has no 2-D canvas');
  return context;
}

const SVG = 'http://www.w3.org/2000/svg';

export function svgElement<K extends keyof SVGElementTagNameMap>(
  name: K,
  attributes: Readonly<Record<string, string | number>>,
): SVGElementTagNameMap[K] {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  return made;
}
