// The rooms of core/src: what each is, its public headers, and the rooms whose files it may include. The order is that
// of the floors: a room includes only rooms that stand before it. tests/package/node/core-rooms.test.js holds every
// #include to this table; `node tools/core_rooms.js` prints it as Markdown.
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root } from './environment.js';

const ground = ['kernels', 'base', 'check', 'isa'];
const operators = ['weights', 'rows', 'positions', 'attention'];

/** `headers` are those of core/include/qkv that declare what the room defines. */
// oxfmt-ignore
export const rooms = {
  kernels: { is: 'loops over numbers, written once and compiled for each instruction set', headers: [], may: [] },
  base: { is: 'what everything stands on: status, messages, memory, threads, portable mathematics', may: ['kernels'],
    headers: ['eigen', 'parallel', 'status', 'tensor_view', 'threads', 'version', 'workspace'] },
  check: { is: 'checks of arguments: shapes, ranges, arrays that overlap', headers: [], may: ['base'] },
  isa: { is: 'the kernels of each instruction set, and the choice of one', headers: ['isa'], may: ['kernels', 'base'] },
  weights: { is: 'matrices packed in a number format, and products with them', headers: ['linear', 'number_format'], may: ground },
  rows: { is: 'operators on each row by itself: norms, softmax, activations, embeddings',
    headers: ['activation', 'embedding', 'norm', 'softmax'], may: ground },
  positions: { is: 'rotary embeddings, sinusoids and biases by distance', headers: ['positional', 'relative_bias', 'rotary'], may: ground },
  attention: { is: 'attention over heads, and the cache of keys and values', headers: ['attention', 'kv_cache'], may: ground },
  layers: { is: 'layers that hold their weights: multi-head attention, feed-forward, blocks',
    headers: ['feed_forward', 'multi_head_attention', 'transformer'], may: [...ground, ...operators] },
  analysis: { is: 'measures of attention weights, and the weights of a head', headers: ['analysis', 'circuits'],
    may: [...ground, 'layers'] },
  spectra: { is: 'spectra of weights and activations, by Eigen, which no other room includes', headers: ['spectra'], may: ['base', 'check'] },
  models: { is: 'whole language models: arrays, passes, sessions, sampling',
    headers: ['language_model', 'language_model_config', 'model_session', 'model_sites', 'sampling'], may: [...ground, ...operators] },
  train: { is: 'gradients, recurrent layers, the tape and the trainers', headers: ['train/'],
    may: [...ground, ...operators, 'models'] },
};

/** The room of a file, a path from core/; undefined for one in no room. */
export function roomOf(file) {
  const source = /^src\/([^/]+)\//.exec(file)?.[1];
  if (source !== undefined) return Object.hasOwn(rooms, source) ? source : undefined;
  const header = /^include\/qkv\/(.+)\.hpp$/.exec(file)?.[1];
  const owns = (name) => (name.endsWith('/') ? header?.startsWith(name) : header === name);
  return Object.keys(rooms).find((room) => rooms[room].headers.some(owns));
}

/** The header that includes all others. */
const whole = 'include/qkv/qkv.hpp';

/** From each file of core/src and core/include the files of both that it includes, as paths from core/. */
export function includesOf(base = root) {
  const core = join(base, 'core');
  const names = ['src', 'include'].flatMap((folder) =>
    readdirSync(join(core, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(core, join(entry.parentPath ?? entry.path, entry.name))),
  );
  const fileOf = (name) => `${name.startsWith('qkv/') ? 'include' : 'src'}/${name}`;
  const read = (file) => readFileSync(join(core, file), 'utf8');
  const included = (file) => [...read(file).matchAll(/^\s*#\s*include\s+"([^"]+)"/gm)];
  return new Map(
    names.sort().map((file) => [file, included(file).map(([, name]) => fileOf(name))]),
  );
}

/** Why a file may not include another; undefined if it may. */
export function includeFault(from, to) {
  if (from === whole) return undefined;
  const [own, other] = [roomOf(from), roomOf(to)];
  const unknown = [from, to].find((file) => roomOf(file) === undefined);
  if (unknown)
    return `core/${unknown} is in no room, expected one of ${Object.keys(rooms).join(', ')}`;
  if (own === other || rooms[own].may.includes(other)) return undefined;
  const expected = [own, ...rooms[own].may].join(', ');
  return `core/${from} (${own}) includes ${to} (${other}), expected files of ${expected}`;
}

/** The table as Markdown. */
export function asMarkdown() {
  const line = ([room, { is, headers, may }]) =>
    `| \`${room}\` | ${is} | ${may.join(', ')} | ${headers.map((name) => `\`${name}\``).join(', ')} |`;
  return [
    '| room of `core/src` | what it is | may include | public headers |',
    '| --- | --- | --- | --- |',
    ...Object.entries(rooms).map(line),
  ].join('\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(asMarkdown());
