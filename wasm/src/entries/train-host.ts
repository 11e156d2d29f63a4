// The script of the workers that `init({ train: true })` of `qkv/worker` starts: as models-host.js, with trainers.

import { ownPort } from '../platform/ports.js';
import { load } from './models.js';
import { init } from './train.js';
import { host } from '../worker/host/host.js';

const port = ownPort();
if (port) host(port, init, { load });
