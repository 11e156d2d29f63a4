// Options whose type decides what a call returns: the compiler takes their type as it is written, so these say what it may be.

/** What the options say under a name; undefined if they lack it. */
export type Said<Options, Name extends PropertyKey> = Name extends keyof Options
  ? Options[Name]
  : undefined;

/** What an option that does not exist is compared with: nothing is of this type, and messages name it. */
export interface DidYouMean<Name> {
  /** Never there. */
  readonly [suggestion]: Name;
}
declare const suggestion: unique symbol;

/** Names of `Known` that begin with the same three letters, or all. */
type Suggested<Given, Known> = Given extends `${infer A}${infer B}${infer C}${string}`
  ? [Extract<keyof Known, `${A}${B}${C}${string}`>] extends [never]
    ? keyof Known
    : Extract<keyof Known, `${A}${B}${C}${string}`>
  : keyof Known;

/** No key but those of `Known`. */
export type NoOthers<Given, Known> = {
  readonly [Name in Exclude<keyof Given, keyof Known>]: DidYouMean<Suggested<Name, Known>>;
};

/** `Known`, as the constraint of a type parameter `Options` that has no key which `Known` lacks: a type parameter alone takes any. */
export type Only<Options, Known> = Known & NoOthers<Options, Known>;

/** The names of `Asking` whose option these options say is true. */
export type Sure<Options, Asking> = {
  [Name in keyof Asking]: [Said<Options, Asking[Name] & PropertyKey>] extends [true] ? Name : never;
}[keyof Asking];

/** The members of a type one by one, as editors then show them. */
export type Shown<T> = T extends infer Each ? { [Name in keyof Each]: Each[Name] } : never;

/** `Base` with what is known better of some members, or of others besides. */
export type With<Base, Better> = Omit<Base, keyof Better> & Better;

/** Lists of `Given` whose elements have no key that those of `Known` lack. */
export type ListOf<Given, Known> = Given extends readonly (infer Each)[]
  ? NonNullable<Known> extends readonly (infer One)[]
    ? readonly NoOthers<Each, One>[]
    : never
  : unknown;

/** `Known` without other keys, also in what `inspect` has, and in what is listed in `read` and `edit`. */
export type Passing<Options, Known> = Only<Options, Known> & {
  /** Without unknown keys. */
  readonly [Name in Extract<keyof Known, 'inspect'>]?: Said<Options, Name> extends infer Given
    ? Given extends object
      ? NoOthers<Given, NonNullable<Said<Known, Name>>>
      : unknown
    : never;
} & {
  readonly [Name in Extract<keyof Known, 'read' | 'edit'>]?: ListOf<
    Said<Options, Name>,
    Known[Name]
  >;
};

/**
 * The layers that `inspect` of this type gets: there if it is. What was requested of them is there, too. `Asking` has for the
 * arrays in `Readings` the options of `inspect` that are sure to get them.
 */
export type Layers<Inspected, Readings, Asking> = [Inspected] extends [object]
  ? {
      /** By layer. */
      layers: ReadonlyMap<
        number,
        Shown<
          With<Readings, Required<Pick<Readings, Extract<Sure<Inspected, Asking>, keyof Readings>>>>
        >
      >;
    }
  : unknown;

/** The shape of an array of four axes, such as `[B, Hq, Tq, Tk]`. */
export type Shape4 = readonly [number, number, number, number];
/** The shape of an array of three axes, such as `[B, Hq, Tq]`. */
export type Shape3 = readonly [number, number, number];
