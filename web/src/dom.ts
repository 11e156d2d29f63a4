/** The element that `selector` names; it is a mistake of ours when it is not there. */
export function find<E extends Element>(root: ParentNode, selector: string, type: new () => E): E {
  const element = root.querySelector(selector);
  if (!(element instanceof type)) throw new Error(`nothing here is a ${type.name} ${selector}`);
  return element;
}

export function context2d(
  canvas: HTMLCanvasElement,
  settings?: CanvasRenderingContext2DSettings,
): CanvasRenderingContext2D {
  const context = canvas.getContext('2d', settings);
  if (!context) throw new Error('this browser has no 2-D canvas');
  return context;
}
