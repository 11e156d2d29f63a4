// What Node has built in. Read from the process, not imported, so that no bundler ever meets a Node module.

/** A module of Node, where this runs in Node or something like it. */
export function nodeModule(name: string): unknown {
  const { process } = globalThis as {
    process?: { getBuiltinModule?: (name: string) => unknown };
  };
  return process?.getBuiltinModule?.(name);
}
