// The script of the workers that `qkv/worker` starts: an engine that answers to whoever started it.

import { ownPort } from '../platform/ports.js';
import { init } from './index.js';
import { host } from '../worker/host/host.js';

const port = ownPort();
if (port) host(port, init);
