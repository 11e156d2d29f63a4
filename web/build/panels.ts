/** The page with a section for every panel, below the sentence. */
export function withPanels(html: string, ids: readonly string[]): string {
  const section = (id: string) => `
      <section id="${id}" aria-labelledby="${id}-title">
        <div class="section-head"><h2 id="${id}-title" data-t="${id}.title"></h2></div>
        <p data-t="${id}.intro"></p>
        <qkv-panel-${id} data-panel></qkv-panel-${id}>
      </section>`;
  return html.replace('<!-- panels -->', ids.map(section).join(''));
}
