/** What a chip says: a position, a token, and the share of the query's attention it gets. */
export interface ChipText {
  readonly position: number;
  /** Escaped. */
  readonly token: string;
  readonly share: string;
  readonly weight: number;
}

/** One chip, for the page and for the build alike. */
export function chipHtml({ position, token, share, weight }: ChipText): string {
  return `
    <input type="radio" name="query" value="${position}" class="visually-hidden">
    <span class="face">
      <svg class="fill" viewBox="0 0 1 1" preserveAspectRatio="none" aria-hidden="true"><rect width="1" height="1" y="${1 - weight}"/></svg>
      <bdi class="token">${token}</bdi>
      <span class="below"><span class="position">${position}</span><span class="share">${share}</span></span>
    </span>`;
}

export function shareOf(weight: number, masked: boolean): string {
  return masked ? '–' : weight.toFixed(3).replace(/^0/, '');
}
