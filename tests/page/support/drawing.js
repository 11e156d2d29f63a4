// What is true of every drawing of a panel, in SVG: it stays in its place, and its words can be read.
import assert from 'node:assert/strict';

/** The numbers of an attribute in markup, in order: `numbersOf(svg, 'circle', 'cy')`. */
export const numbersOf = (markup, element, attribute) =>
  Array.from(markup.matchAll(new RegExp(`<${element}\\b[^>]*? ${attribute}="([^"]*)"`, 'g')), ([, value]) => Number(value)); // prettier-ignore

/** Every text of a drawing: { y, anchor, text } with its left and right end, where a letter takes 6 pixels. */
const labelsOf = (drawing) =>
  Array.from(drawing.matchAll(/<text x="([^"]*)" y="([^"]*)"([^>]*)>(.*?)<\/text>/g), ([, x, y, rest, inner]) => {
    const text = inner.replace(/<[^>]*>/g, '');
    const anchor = /text-anchor="(\w+)"/.exec(rest)?.[1] ?? 'start';
    const from = Number(x) - { start: 0, middle: 3, end: 6 }[anchor] * text.length;
    return { y: Number(y), anchor, text, from, to: from + 6 * text.length };
  }); // prettier-ignore

/** Places along x of all marks of a drawing: circles, rectangles and the points of paths. */
const placesOf = (drawing) => [
  ...numbersOf(drawing, 'circle', 'cx'),
  ...numbersOf(drawing, 'rect', 'x'),
  ...Array.from(drawing.matchAll(/[MLH](-?[\d.]+)/g), ([, x]) => Number(x)),
];

/** Holds a drawing to its width: no mark or word outside, no number that is none, and no two numbers of an axis on each other. */
export function requireReadable(drawing, width, what) {
  assert.doesNotMatch(drawing, /NaN|undefined|Infinity|null/, what);
  for (const x of placesOf(drawing)) assert.ok(x >= -0.5 && x <= width + 0.5, `${what}: a mark at ${x}`);
  const labels = labelsOf(drawing);
  for (const { text, from, to } of labels) {
    assert.doesNotMatch(text, /\de[+-]?\d/, what);
    assert.ok(text.trim() !== '' && from >= -2 && to <= width + 2, `${what}: ${text} from ${from} to ${to}`);
  }
  const numbers = labels.filter(({ anchor }) => anchor === 'middle').sort((a, b) => a.y - b.y || a.from - b.from);
  numbers.slice(1).forEach((label, i) => {
    const before = numbers[i];
    assert.ok(label.y !== before.y || label.from >= before.to - 1, `${what}: ${before.text} and ${label.text} overlap`);
  });
} // prettier-ignore
