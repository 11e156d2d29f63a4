// A process for one contestant: messages say which of these to open, and then what to call.
import { adapters } from './adapters.js';
import { llamaCpp } from './llama_cpp.js';
import { patching } from './patching.js';

const peers = { adapters, llamaCpp, patching };

let seat;
process.on('message', async ({ open, options, call, argument }) => {
  try {
    if (open) seat = await peers[open](options);
    process.send({ value: open ? true : await seat[call]?.(argument) });
  } catch (error) {
    process.send({ error: String(error.message ?? error) });
  }
});
