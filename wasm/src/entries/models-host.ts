// The script of the workers that `init({ models: true })` of `qkv/worker` starts: as worker-host.js, with language models.

import { ownPort } from '../platform/ports.js';
import { init } from './index.js';
import { load } from './models.js';
import { host } from '../worker/host/host.js';

const port = ownPort();
if (port) host(port, init, { load });
