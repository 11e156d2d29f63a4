import type { Qkv } from 'qkv';
import { chipHtml, shareOf } from '../src/ui/token_chip';
import { allowedKeys } from '../src/domain/mask';
import { Pipeline } from '../src/worker/pipeline';
import type { Frame } from '../src/worker/protocol';
import { firstRequest } from '../src/app/first';
import type { Language } from '../src/i18n/i18n';
import { cividis } from '../src/domain/cividis';
import { colourIndex } from '../src/domain/colour_scale';
import { escapeHtml } from './html';

const CELL = 40;
const LABELS = 76;
const LANGUAGES: Readonly<Record<Language, string>> = { en: 'en', zh: 'zh-CN' };

type First = Pick<Frame, 'query' | 'matrix'> & { readonly tokens: readonly string[] };

function compute(qkv: Qkv, language: Language): First {
  const request = firstRequest(language);
  const { frame } = new Pipeline(qkv).run(1, request);
  return { ...frame, tokens: request.layer.tokens };
}

const isMasked = (row: number, col: number, count: number) => {
  const [first, end] = allowedKeys('causal', row, count);
  return col < first || col >= end;
};

/** The cells alone, one unit each: the page lays them over its canvas until that is painted. */
function cells({ matrix, tokens }: First): string {
  const place = colourIndex('weights', 1);
  const count = tokens.length;
  return Array.from(matrix ?? [], (value, at) => {
    const [row, col] = [Math.floor(at / count), at % count];
    const box = `x="${col}" y="${row}" width="1" height="1"`;
    if (isMasked(row, col, count)) return `<rect ${box} class="masked"/>`;
    const from = place(value) * 4;
    const rgb = Array.from(cividis.subarray(from, from + 3), (c) => c.toString(16).padStart(2, '0'));
    return `<rect ${box} fill="#${rgb.join('')}"/>`;
  }).join('');
}

function figure(language: Language, first: First): string {
  const { tokens } = first;
  const side = tokens.length * CELL;
  const size = LABELS + side;
  const middle = (i: number) => LABELS + (i + 0.5) * CELL;
  const rows = tokens.map(
    (token, i) =>
      `<text x="${LABELS - 8}" y="${middle(i) + 5}" text-anchor="end">${escapeHtml(token)}</text>`,
  );
  const columns = tokens.map((token, i) => {
    const turn = `rotate(-45 ${middle(i)} ${LABELS - 8})`;
    return `<text x="${middle(i)}" y="${LABELS - 8}" transform="${turn}">${escapeHtml(token)}</text>`;
  });
  const inner = `x="${LABELS}" y="${LABELS}" width="${side}" height="${side}"`;
  const unit = `viewBox="0 0 ${tokens.length} ${tokens.length}" preserveAspectRatio="none"`;
  return `
    <svg class="first-map" lang="${LANGUAGES[language]}" viewBox="0 0 ${size + 30} ${size}" role="img" aria-label="${escapeHtml(tokens.join(' '))}">
      ${rows.join('')}${columns.join('')}
      <svg class="first-cells" ${inner} ${unit}>${cells(first)}</svg>
    </svg>`;
}

function chips(language: Language, { query, tokens }: First): string {
  const all = tokens.map((token, position) => {
    const masked = isMasked(query?.row ?? 0, position, tokens.length);
    const weight = query?.weights[position] ?? 0;
    const share = shareOf(weight, masked);
    const html = chipHtml({ position, token: escapeHtml(token), share, weight });
    return `<label class="chip${masked ? ' masked' : ''}">${html}</label>`;
  });
  return `<div class="chips" lang="${LANGUAGES[language]}">${all.join('')}</div>`;
}

/** The page with the opening sentence and its map, in both languages; `qkv` computes them. */
export function withFirstView(html: string, qkv: Qkv): string {
  const first = { en: compute(qkv, 'en'), zh: compute(qkv, 'zh') };
  const both = (make: (language: Language, of: First) => string) =>
    make('en', first.en) + make('zh', first.zh);
  return html
    .replace(/(<qkv-sentence[^>]*>)/, (tag) => tag + both(chips))
    .replace(/(<qkv-panel-map[^>]*>)/, (tag) => tag + both(figure));
}
