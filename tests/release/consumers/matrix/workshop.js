// Where the consumers live: in the folder of the tools (tests/release/tools.js), an empty project for each with
// the package out of its tarball. The tools are found as in a workspace, in the folder above.
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from '../../../support/js/files.js';
import { must } from '../../../../tools/run.js';
import { PATIENCE } from '../../../support/js/patience.js';
import { install, pack } from '../../packed.js';
import { toolsFolder } from '../../tools.js';

const projects = () => join(toolsFolder(), 'projects');
const template = () => join(projects(), 'template');

/** Packs the package and installs it, without a network, into the project that all others are copies of. */
export async function packPackage() {
  rmSync(projects(), { recursive: true, force: true });
  mkdirSync(template(), { recursive: true });
  const { file } = await pack();
  writeFileSync(join(template(), 'package.json'), '{ "private": true, "type": "module" }\n');
  await install(file, template());
  const example = join(root, 'tests/release/consumers/matrix/example.js');
  cpSync(example, join(template(), 'example.js'));
}

let count = 0;

/** A new project with these files besides: its folder. */
export function newProject(files) {
  const folder = join(projects(), `project-${++count}`);
  cpSync(template(), folder, { recursive: true });
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  return folder;
}

/** What a command prints when it is run in a project; rejects, with that, when it fails or takes too long. */
export function runIn(cwd, command, args, { env = {} } = {}) {
  // Runners of tests behave otherwise when they believe to be run by one.
  const ours = { NODE_OPTIONS: '', NODE_TEST_CONTEXT: undefined };
  return must(command, args, { cwd, env: { ...ours, ...env }, timeout: PATIENCE.test });
}
