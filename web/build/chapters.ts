import { CHAPTER_IDS, CHAPTERS, placeOf, type Chapter, type ChapterId } from '../src/chapters/index';
import type { PanelId } from '../src/features/index';

const sectionOf = (id: PanelId, folded: boolean) => `
      <section id="${id}" aria-labelledby="${id}-title"${folded ? ' class="laboratory folded"' : ''}>
        <div class="section-head"><h2 id="${id}-title" data-t="${id}.title"></h2></div>
        <p data-t="${id}.intro"></p>
        <qkv-panel-${id} data-panel></qkv-panel-${id}>
      </section>`;

const linkOf = (id: PanelId) => `
          <a class="button see" href="#${id}" data-t="${id}.title"></a>`;

/** The button that opens the panels of a laboratory, which are named on it. */
function openerOf(id: ChapterId, { laboratory }: Chapter): string {
  if (laboratory.length === 0) return '';
  const titles = laboratory.map((panel) => `<span data-t="${panel}.title"></span>`);
  return `
      <div class="laboratory-opener">
        <button type="button" class="button" data-opens="${id}" aria-expanded="false" aria-controls="${laboratory.join(' ')}"><strong data-t="chapters.laboratory"></strong>${titles.join('')}</button>
      </div>`;
}

/** A chapter and its panels stand one after another, not in each other: a lesson takes panels out and puts them back. */
function chapterOf(id: ChapterId, at: number): string {
  const chapter: Chapter = CHAPTERS[id];
  const { picture, shown, laboratory, lessons, see = [] } = chapter;
  const place = placeOf(id);
  return `
      <article class="chapter" id="${place}" aria-labelledby="${place}-title">
        <p class="chapter-name"><span>${at + 1}</span> <span data-t="chapters.${id}.name"></span></p>
        <h2 id="${place}-title" data-t="chapters.${id}.question"></h2>
        <p data-t="chapters.${id}.text"></p>
        <p class="chapter-act"><strong data-t="chapters.try"></strong> <span data-t="chapters.${id}.act"></span></p>
        ${picture ? `<qkv-picture-${id} class="chapter-picture" data-panel></qkv-picture-${id}>` : ''}
        ${see.length > 0 ? `<p class="chapter-see">${see.map(linkOf).join('')}</p>` : ''}
        ${lessons ? `<p class="chapter-see"><a class="button see" href="#v=1&amp;lesson=index" data-t="bar.lessons"></a></p>` : ''}
      </article>
      ${shown.map((panel) => sectionOf(panel, false)).join('')}
      ${openerOf(id, chapter)}
      ${laboratory.map((panel) => sectionOf(panel, true)).join('')}`;
}

const entryOf = (id: ChapterId) => `
          <li><a href="#${placeOf(id)}" data-t="chapters.${id}.name"></a></li>`;

/** The page with the chapters, each with its panels, below the sentence; and the table of contents. */
export function withChapters(html: string): string {
  return html
    .replace('<!-- chapters -->', () => CHAPTER_IDS.map(chapterOf).join(''))
    .replace('<!-- contents -->', () => CHAPTER_IDS.map(entryOf).join(''));
}
