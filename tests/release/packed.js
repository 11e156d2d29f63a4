// The package as a stranger gets it: packed, once for each build, and in an empty project.
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pack as packTree } from '../../tools/release/pack.js';
import { must, run } from '../../tools/run.js';
import { tarball } from '../../tools/shipped.js';
import { root } from '../support/js/files.js';
import { PATIENCE } from '../support/js/patience.js';

/** A name for the package as it is. */
function fingerprint() {
  const hash = createHash('sha256');
  const tools = ['tools/release/addresses.js', 'tools/release/pack.js'];
  for (const file of [...tarball, ...tools]) {
    hash.update(`${file}\n`).update(fs.readFileSync(join(root, file)));
  }
  return hash.digest('hex').slice(0, 16);
}

/** Packs the tree as a release does, unless a test has done that: what npm says it packed, and the tarball. */
export async function pack() {
  const folder = join(root, 'build/packed', fingerprint());
  const report = join(folder, 'report.json');
  if (!fs.existsSync(report)) {
    fs.mkdirSync(join(root, 'build/packed'), { recursive: true });
    const own = fs.mkdtempSync(`${folder}-`);
    const packed = await packTree(own, { timeout: PATIENCE.test });
    fs.writeFileSync(join(own, 'report.json'), JSON.stringify(packed));
    try {
      fs.renameSync(own, folder);
    } catch {
      fs.rmSync(own, { recursive: true }); // another test was faster
    }
  }
  const packed = JSON.parse(fs.readFileSync(report, 'utf8'));
  return { packed, file: join(folder, packed.filename) };
}

/** Installs a tarball into a project, without a network. */
export function install(file, project) {
  const quiet = ['--ignore-scripts', '--offline', '--no-audit', '--no-fund'];
  return must('npm', ['install', file, ...quiet], { cwd: project, timeout: PATIENCE.test });
}

/** What is left of that where there are neither dependencies nor scripts, in a tenth of the time. */
export function unpack(file, project) {
  const folder = join(project, 'node_modules/qkv');
  fs.mkdirSync(folder, { recursive: true });
  return must('tar', ['-xzf', file, '-C', folder, '--strip-components=1']);
}

/**
 * Packs the tree and puts the tarball into a project with `put`. Resolves to { packed, file, project, write, inProject,
 * attempt, remove }: what npm says it packed, the tarball, the folder of the project, and how to write a file and run a
 * command there, one that must succeed or one that may fail.
 */
export async function installPacked(put = unpack) {
  const temporary = fs.mkdtempSync(join(tmpdir(), 'qkv-consumer-'));
  const project = join(temporary, 'project');
  const write = (name, content) => fs.writeFileSync(join(project, name), content);
  const options = { cwd: project, timeout: PATIENCE.test };
  const inProject = (command, ...args) => must(command, args, options);
  const attempt = (command, ...args) => run(command, args, options);
  const { packed, file } = await pack();
  fs.mkdirSync(project);
  write('package.json', JSON.stringify({ name: 'stranger', private: true, type: 'module' }));
  await put(file, project);
  const remove = () => fs.rmSync(temporary, { recursive: true, force: true });
  return { packed, file, project, write, inProject, attempt, remove };
}
