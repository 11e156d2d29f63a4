// The functions of an engine by room: attention, layers, positions and so on, as the table of the guide to the package lists them.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../environment.js';

/** What `init` of each module resolves to. Its methods are the functions of the module. */
const engines = {
  qkv: 'Qkv',
  'qkv/train': 'TrainQkv',
  'qkv/spectra': 'Spectra',
  'qkv/worker': 'AsyncQkv',
};

export const isEngine = ({ name, parent }) => parent !== undefined && engines[parent.name] === name;

/** The type of the engine of a module, undefined for a module without one. */
export const engineOf = (module) =>
  module.children?.find((child) => child.name === engines[module.name]);

/** The table of the guide: the names of functions by room. */
const guide = 'wasm/docs/package.md';
const [table] = /^\| attention \|.*?(?=\n\n)/ms.exec(readFileSync(join(root, guide), 'utf8')) ?? [];
if (!table) throw new Error(`${guide} has no table of functions, whose first row is "attention"`);
const rooms = new Map(
  table.split('\n').map((row) => {
    const [, room, functions] = row.split('|');
    return [room.trim(), Array.from(functions.matchAll(/`(\w+)`/g), ([, name]) => name)];
  }),
);

const roomOf = (name) => {
  for (const [room, names] of rooms) if (names.includes(name)) return room;
  return name.endsWith('Backward') ? 'gradients' : 'more';
};

/** Methods of an engine by room, in the order of the table: [{ title, children }]. */
export function byRoom(methods) {
  const sections = [...rooms.keys(), 'gradients', 'more'].map((title) => ({
    title,
    children: methods.filter(({ name }) => roomOf(name) === title),
  }));
  const found = sections.filter(({ children }) => children.length > 0);
  // Where the table names none of them, the word for what it does not name would say nothing.
  return found.length === 1 ? [{ ...found[0], title: 'functions' }] : found;
}
