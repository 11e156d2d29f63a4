// The menus by which a panel is taken away, and the button that shares the page, in Node.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, mock, test } from 'node:test';
import { until } from '../../support/js/patience.js';
import { fire } from '../support/operate.js';
import { openWindow } from '../support/window.js';

const { rest, leave } = openWindow();
const { modules } = await import('../support/engine.js');
const web = await modules('app/header', 'app/export_menu', 'features/panel');
const { TopPanel, Panel, t } = web;
customElements.define('qkv-top', TopPanel);

afterEach(async () => {
  await rest();
  leave();
  mock.restoreAll();
});

describe('app: the menu of a panel', () => {
  const figure = {
    name: 'two',
    svg: { width: 4, height: 2, body: '' },
    table: [['a', 1]],
    data: {},
  };
  class Drawn extends Panel {
    template() {
      return '';
    }
    update() {}
    async figure(view, tensors) {
      return view.shown ? { ...figure, data: await tensors() } : null;
    }
  }
  customElements.define('qkv-panel-map', Drawn);
  customElements.define('qkv-panel-scale', class extends Drawn {
    figure = undefined;
  }); // prettier-ignore

  let app;
  let copied;
  let saved;
  beforeEach(() => {
    document.body.innerHTML = ['map', 'scale', 'cost', 'use']
      .map(
        (id) =>
          `<section id="${id}"><div class="section-head"><h2 id="${id}-title">The ${id}</h2></div><qkv-panel-${id}></qkv-panel-${id}></section>`,
      )
      .join('');
    [copied, saved] = [[], []];
    Object.defineProperty(navigator, 'clipboard', {
      value: { writeText: async (text) => void copied.push(text) },
      configurable: true,
    });
    mock.method(HTMLAnchorElement.prototype, 'click', function () {
      saved.push(this.download);
    });
    const client = { tensors: async () => ({ numbers: 1 }) };
    const link = (panel = null, search = '') => `https://page.example/${search}#${panel}`;
    app = { client, link, view: () => ({ shown: true }) };
    web.addTools(app);
  });
  const menu = (id) => document.querySelector(`#${id} .section-head > .menu`);
  const said = (id) => menu(id).querySelector('[role=status]').textContent;
  async function take(id, what) {
    menu(id).querySelector('[role=status]').textContent = '';
    menu(id).querySelector(`[data-do=${what}]`).click();
    await until(() => said(id) !== '');
    return said(id);
  }
  const forbid = () => {
    navigator.clipboard.writeText = () => Promise.reject(new Error('no'));
  };

  test('copies links, or shows them where nothing may be copied', async () => {
    const frame =
      '<iframe src="https://page.example/?embed=map#null" title="The map" width="100%" height="640" loading="lazy" allow="clipboard-write"></iframe>';
    assert.equal(await take('map', 'link'), t('tools.copied'));
    assert.equal(await take('map', 'embed'), t('tools.copied'));
    assert.deepEqual(copied, ['https://page.example/#map', frame]);
    forbid();
    assert.equal(await take('map', 'link'), 'https://page.example/#map');
    assert.equal(await take('map', 'embed'), frame);
  });

  test('closes on Escape, and when a hand is elsewhere', () => {
    const one = menu('map');
    const summary = one.querySelector('summary');
    const open = () => ((one.open = true), (menu('cost').open = true));
    open();
    fire(one, 'keydown', KeyboardEvent, { key: 'Enter' });
    assert.equal(one.open, true);
    fire(one.querySelector('button'), 'keydown', KeyboardEvent, { key: 'Escape' });
    assert.deepEqual([one.open, menu('cost').open], [false, true]);
    assert.equal(document.activeElement, summary);
    open();
    fire(one.querySelector('.hint'), 'click');
    assert.deepEqual([one.open, menu('cost').open], [true, false]);
    fire(document.body, 'click');
    assert.equal(one.open, false);
    open();
    document.dispatchEvent(new Event('click'));
    assert.deepEqual([one.open, menu('cost').open], [false, false]);
  });

  test('closes when the focus leaves it, and not while it moves inside', () => {
    const one = menu('map');
    const move = (to) =>
      fire(one.querySelector('button'), 'focusout', FocusEvent, { relatedTarget: to });
    for (const [to, stays] of [
      [one.querySelector('[data-do=png]'), true],
      [null, true], // a click on what takes no focus, or another window
      [menu('cost').querySelector('summary'), false],
    ]) {
      one.open = true;
      move(to);
      assert.equal(one.open, stays);
    }
  });
});
