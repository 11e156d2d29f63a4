export type Limits = readonly [low: number, high: number];

/** A part of the state and of the link: `read` answers undefined to what it cannot understand. */
export interface Field<T> {
  /** Its name in the link. */
  readonly key: string;
  /** What it is where a link says nothing of it. */
  readonly initial: T;
  write(value: T): string;
  read(raw: string): T | undefined;
}

/** A number between limits. */
export interface NumberField extends Field<number> {
  readonly limits: Limits;
}

/** One of a few values. */
export interface ChoiceField<T> extends Field<T> {
  readonly options: readonly T[];
}

/** The state that these fields describe. */
export type StateOf<Fields extends Readonly<Record<string, Field<unknown>>>> = {
  readonly [Name in keyof Fields]: Fields[Name]['initial'];
};

export function clamp(value: number, [low, high]: Limits): number {
  return Math.min(high, Math.max(low, value));
}

export const significant = (value: number, digits: number) => Number(value.toPrecision(digits));

/** Text of the reader: at most so many units of it, and without half surrogate pairs, which a link cannot hold. */
export function freeText(key: string, longest: number): Field<string> {
  const sendable = (value: string) => value.slice(0, longest).replace(/\p{Surrogate}/gu, '\uFFFD');
  return { key, initial: '', write: sendable, read: sendable };
}

/** A field of numbers that `clean` brings into range. */
export function number(
  key: string,
  initial: number,
  limits: Limits,
  clean: (value: number) => number,
): NumberField {
  const read = (raw: string) => {
    const value = Number(raw);
    return raw.trim() !== '' && Number.isFinite(value) ? clean(value) : undefined;
  };
  return { key, initial, limits, write: String, read };
}

export const integer = (key: string, initial: number, limits: Limits) =>
  number(key, initial, limits, (value) => clamp(Math.round(value), limits) + 0);

/** The power of two that is nearest. */
export const powerOfTwo = (key: string, initial: number, limits: Limits) =>
  number(key, initial, limits, (value) => 2 ** Math.round(Math.log2(clamp(value, limits))));

/** With so many significant digits. */
export const rounded = (key: string, initial: number, limits: Limits, digits: number) =>
  number(key, initial, limits, (value) => clamp(significant(value, digits), limits));

/** The same for a field that may be null, which is its default and never written. */
export function optional<T>(field: Field<T>): Field<T | null> {
  const write = (value: T | null) => (value === null ? '' : field.write(value));
  const read = (raw: string) => field.read(raw);
  return { ...field, initial: null, write, read };
}

export const optionalNumber = (field: NumberField) => ({
  ...optional(field),
  limits: field.limits,
});

/** Exactly `count` numbers, each as `clean` leaves it, with commas between them; null where a link does not have it. */
export function numberList(
  key: string,
  count: number,
  clean: (value: number) => number,
): Field<readonly number[] | null> {
  const read = (raw: string) => {
    const parts = raw.split(',');
    const values = parts.map(Number);
    const sound = parts.every((part) => part.trim() !== '') && values.every(Number.isFinite);
    return sound && values.length === count ? values.map(clean) : undefined;
  };
  return { key, initial: null, write: (value) => value?.join(',') ?? '', read };
}

export function choice<T extends string>(
  key: string,
  initial: NoInfer<T>,
  options: readonly T[],
): ChoiceField<T> {
  const read = (raw: string) => options.find((option) => option === raw);
  return { key, initial, options, write: String, read };
}

export function flag(key: string, initial: boolean): ChoiceField<boolean> {
  const read = (raw: string) => (raw === '1' ? true : raw === '0' ? false : undefined);
  const write = (value: boolean) => (value ? '1' : '0');
  return { key, initial, options: [true, false], write, read };
}
