/** Up to this many tokens all weights of a head go to the page. */
export const MAX_MATRIX = 64;
