// Drawings and what is taken away, in Node: marks, scales, axes and curves as text, and the files and frames that are made of them.
import assert from 'node:assert/strict';
import { resolveObjectURL } from 'node:buffer';
import { beforeEach, describe, test } from 'node:test';
import { numbersOf } from '../support/drawing.js';
import { openWindow } from '../support/window.js';

openWindow();
const { modules } = await import('../support/engine.js');
const web = await modules('ui/export_figure', 'ui/plot', 'ui/embed_code');

test('plots: scales and ticks', () => {
  const lin = web.linear([2, 6], [10, 30]);
  assert.deepEqual([2, 4, 6, 7].map(lin), [10, 20, 30, 35]);
  const log = web.logarithmic([1, 100], [5, 9]);
  assert.deepEqual([1, 10, 100, 1000].map((value) => Number(log(value).toFixed(9))), [5, 7, 9, 11]);
  for (const [low, high, count, ...ticks] of [
    [0, 1, 5, 0, 0.2, 0.4, 0.6, 0.8, 1],
    [-1, 1, 3, -1, 0, 1],
    [0.13, 0.47, 4, 0.2, 0.3, 0.4],
    [0, 99, 10, 0, 10, 20, 30, 40, 50, 60, 70, 80, 90],
    [-7.5, 12, 6, -5, 0, 5, 10],
    [0, 3e-5, 2, 0, 2e-5],
    [1e6, 5e6, 4, 1e6, 2e6, 3e6, 4e6, 5e6],
    [0, 0.3, 3, 0, 0.1, 0.2, 0.3],
  ]) {
    assert.deepEqual(web.niceTicks(low, high, count), ticks);
  }
}); // prettier-ignore

test('plots: a number of an axis stands at its mark, with a minus of its own', () => {
  const box = { left: 40.5, right: 200, top: 10, bottom: 90 };
  const [x, y] = [web.linear([-1, 2], [40, 200]), web.linear([-1, 1], [90, 10])];
  const left = web.leftAxis(web.pagePen, box, y, [-1, 0.5]);
  const texts = (axis) => Array.from(axis.matchAll(/>([^<>]+)<\/text>/g), ([, text]) => text);
  assert.deepEqual(texts(left), ['−1', '0.5']);
  assert.match(left, /d="M40\.5 10V90"/, 'the line');
  for (const at of [90, 30]) assert.match(left, new RegExp(`d="M36\\.5 ${at}\\.0H40\\.5"`));
  const axis = (labels) => web.lowerAxis(web.pagePen, box, x, { ticks: [-1, 0, 1.5], labels });
  assert.deepEqual(texts(axis(true)), ['−1', '0', '1.5']);
  assert.deepEqual(numbersOf(axis(true), 'text', 'x'), [-1, 0, 1.5].map((tick) => Number(x(tick).toFixed(1))));
  assert.deepEqual(texts(axis(false)), []);
}); // prettier-ignore

test('plots: curves, bars, densities and symbols', () => {
  const scales = [web.linear([0, 10], [0, 100]), web.linear([0, 1], [50, 0])];
  const pen = { class: 'a' };
  const curve = (xs, ys) => web.curve(pen, xs, ys, scales);
  assert.equal(curve([0, 1, 2], [0, 1, 0.5]), '<path class="a" d="M0.0 50.0L10.0 0.0L20.0 25.0"/>');
  assert.equal(
    curve([0, 1, 2, 3, 4], [NaN, 1, 0.5, Infinity, 0]),
    '<path class="a" d="M10.0 0.0L20.0 25.0M40.0 50.0"/>',
  );
  assert.equal(curve([0, 1, 2], [1, 0.5]), '<path class="a" d="M0.0 0.0L10.0 25.0"/>');
  assert.equal(curve([1, 2], [NaN, -Infinity]), '');
  assert.equal(curve([], []), '');
  const drawn = web.bars(web.pagePen, { from: 1, width: 2, counts: [0.5, 0, 1] }, scales);
  assert.equal(
    drawn,
    '<rect class="plot-bar" x="10" y="25" width="19" height="25"/>' +
      '<rect class="plot-bar" x="50" y="0" width="19" height="50"/>',
  );
  const thin = web.bars(web.filePen, { from: 0, width: 0.15, counts: [1] }, scales);
  assert.match(thin, /width="1" height="50"/);
  assert.equal(
    web.shape('rect', { x: 1.005, y: -2.349, class: 'b' }),
    '<rect x="1" y="-2.35" class="b"/>',
  );
  const { xs, ys } = web.normalDensity([-2, 4], { mean: 1, variance: 4, factor: 10 });
  assert.deepEqual([xs.length, xs[0], xs[48], xs[96]], [97, -2, 1, 4]);
  xs.forEach((x, i) => {
    const wanted = (10 * Math.exp(-((x - 1) ** 2) / 8)) / (2 * Math.sqrt(2 * Math.PI));
    assert.ok(Math.abs(ys[i] - wanted) < 1e-12);
  });
});

// ---- files ----

describe('files', () => {
  const figure = {
    ...{ name: 'x', svg: { width: 40, height: 30, body: '<g/>' }, table: [['a', 1]] },
    data: { list: Int8Array.of(1, 2), deep: { none: NaN } },
  };
  let anchors;
  let images;
  beforeEach(() => {
    anchors = [];
    images = [];
    HTMLAnchorElement.prototype.click = function () {
      anchors.push(this);
    };
    globalThis.Image = class {
      decode() {
        images.push(this.src);
        return Promise.resolve();
      }
    };
  });

  test('of pixels are the drawing at twice its size', async () => {
    const canvases = [];
    const { createElement } = document;
    document.createElement = (name) => {
      const made = createElement.call(document, name);
      if (name === 'canvas') canvases.push(made);
      return made;
    };
    HTMLCanvasElement.prototype.toBlob = (act, type) => act(new Blob(['p'], { type }));
    await web.save(figure, 'png', 'link');
    document.createElement = createElement;
    const [canvas] = canvases;
    assert.deepEqual([canvas.width, canvas.height], [80, 60]);
    const [[name, image, ...box]] = canvas.drawnWith.drawn;
    assert.deepEqual([name, ...box], ['drawImage', 0, 0, 80, 60]);
    assert.deepEqual(images, [image.src]);
    const [kind, ...data] = image.src.split(',');
    assert.equal(kind, 'data:image/svg+xml;charset=utf-8');
    assert.equal(decodeURIComponent(data.join(',')), web.svgFile(figure.svg, 'link'));
    const [{ download, href }] = anchors;
    assert.deepEqual([download, resolveObjectURL(href).type], ['qkv-x.png', 'image/png']);
    HTMLCanvasElement.prototype.toBlob = (act) => act(null);
    await assert.rejects(web.save(figure, 'png', 'link'), /no picture/);
  });

  test('have the pixels of a canvas, every cell of a table, and no letter that XML lacks', () => {
    const canvas = Object.assign(document.createElement('canvas'), { width: 7, height: 5 });
    let copy;
    HTMLCanvasElement.prototype.toDataURL = function () {
      copy = this;
      return 'data:pixels';
    };
    assert.match(web.raster(canvas, [1, 2, 3, 4]), /<image x="1" y="2" width="3" height="4".*href="data:pixels"/);
    assert.deepEqual([copy.width, copy.height, copy.drawnWith.drawn], [7, 5, [['drawImage', canvas, 0, 0]]]);
    const { width, height, body } = web.tableSvg([['a', 'b'], ['c', 2, 3]]);
    const places = ['x', 'y'].map((side) => numbersOf(body, 'text', side));
    assert.deepEqual(places, [[16, 236, 16, 236, 456], [24, 24, 48, 48, 48]]);
    assert.ok(width > 456 && height > 48);
    assert.match(web.text(1, 2, '\u0000\u001f\t\ud800\u{1f431}\ufffe a<b>&"'), />\ufffd\ufffd\t\ufffd\u{1f431}\ufffd a&lt;b&gt;&amp;&quot;</u);
  }); // prettier-ignore

  test('that others paste have their addresses escaped', () => {
    assert.equal(
      web.frameOf('https://x/?a=1&b="', 'R & "D"', 300),
      '<iframe src="https://x/?a=1&amp;b=&quot;" title="R &amp; &quot;D&quot;" width="100%" ' +
        'height="300" loading="lazy" allow="clipboard-write"></iframe>',
    );
  });
});
