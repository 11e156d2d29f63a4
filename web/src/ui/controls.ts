/** Radio buttons of one name, each with the text of its key. */
export const radiosHtml = <Value extends string>(
  name: string,
  values: readonly Value[],
  keyOf: (value: Value) => string,
): string =>
  values
    .map(
      (value) =>
        `<label><input type="radio" name="${name}" value="${value}"><span data-t="${keyOf(value)}"></span></label>`,
    )
    .join('');
