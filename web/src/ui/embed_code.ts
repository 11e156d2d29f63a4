// What a reader pastes into a page of their own to have a panel or a lesson there.

const inAttribute = (text: string): string => text.replace(/&/g, '&amp;').replace(/"/g, '&quot;');

/** An element with this address in it: loaded when it comes near the screen, and allowed to copy links. */
export const frameOf = (address: string, title: string, height: number): string =>
  `<iframe src="${inAttribute(address)}" title="${inAttribute(title)}" width="100%" height="${height}" ` +
  'loading="lazy" allow="clipboard-write"></iframe>';
