/** Formulas of math.json as MathML, typeset when the page is built. */
declare module 'virtual:math' {
  const math: Readonly<Record<keyof typeof import('./math.json'), string>>;
  export default math;
}
