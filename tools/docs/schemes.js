// Doxygen 1.9.4 has one colour scheme. Each of its colours gets a half for dark pages: the same hue and chroma, with the
// lightness turned round, so that what could be read still can.

/** 0 to 1 each. White becomes nearly black and black nearly white, as on the other pages. */
function darkOf(channels) {
  const lightness = (Math.max(...channels) + Math.min(...channels)) / 2;
  const shift = 0.93 - 0.85 * lightness - lightness;
  return channels.map((channel) => Math.min(Math.max(channel + shift, 0), 1));
}

const named = { white: '#ffffff', black: '#000000', gray: '#808080', grey: '#808080' };

function bothOf(colour) {
  const hex = named[colour.toLowerCase()] ?? colour;
  const digits = hex.length === 4 ? hex.slice(1).replace(/./g, '$&$&') : hex.slice(1);
  const channels = [0, 2, 4].map((at) => parseInt(digits.slice(at, at + 2), 16) / 255);
  const dark = darkOf(channels).map((channel) => Math.round(255 * channel).toString(16));
  return `light-dark(#${digits}, #${dark.map((part) => part.padStart(2, '0')).join('')})`;
}

/** A style sheet of Doxygen for light and dark pages, without its pictures of gradients, which are light. */
export const bothSchemes = (css) =>
  `:root{color-scheme:light dark}\n${css.replace(/\{[^{}]*\}/g, (declarations) =>
    declarations
      .replace(/url\(\s*['"]?(?:nav|tab|bc)_[^)]*\)/g, 'none')
      .replace(
        /#(?:[0-9a-f]{6}|[0-9a-f]{3})\b|(?<=[\s:,(])(?:white|black|gr[ae]y)\b(?!-)/gi,
        bothOf,
      ),
  )}`;
