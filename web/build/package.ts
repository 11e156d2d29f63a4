/** A file of the package that the page is built from: that in dist/, or in the folder QKV_PACKAGE, which `npm start` has first. */
export const packageFile = (name: string): URL =>
  new URL(`../../${process.env['QKV_PACKAGE'] ?? 'dist'}/${name}`, import.meta.url);
