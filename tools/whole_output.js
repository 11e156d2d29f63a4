// Loaded before each file of tests: what the process writes reaches its pipe at once. With --test-force-exit a process
// ends while a part of its report is still on the way, and tests that passed are missing without a word
// (nodejs/node#64833).
for (const { _handle: handle } of [process.stdout, process.stderr]) handle?.setBlocking?.(true);
