// The page: loads a model in a worker, sends it the conversation, and shows its answer while it comes.
import { Template } from '@huggingface/jinja';
import {
  type AsyncLanguageModel,
  type AsyncSession,
  type FinishReason,
  init,
  type LoadModelOptions,
  type ModelSource,
  type Progress,
} from 'qkv/worker';
import { sourceOfAddress, sourceOfFiles } from './sources.js';

function element<T extends HTMLElement>(id: string, kind: new () => T): T {
  const found = document.getElementById(id);
  if (found instanceof kind) return found;
  throw new Error(`the page has no ${kind.name} ${id}`);
}

const source = element('source', HTMLFormElement);
const address = element('address', HTMLInputElement);
const files = element('files', HTMLInputElement);
const write = element('write', HTMLFormElement);
const most = element('most', HTMLInputElement);
const temperature = element('temperature', HTMLInputElement);
const text = element('text', HTMLTextAreaElement);
const log = element('log', HTMLDivElement);
const status = element('status', HTMLOutputElement);
const progress = element('progress', HTMLProgressElement);
const stop = element('stop', HTMLButtonElement);
const further = element('continue', HTMLButtonElement);
const send = element('send', HTMLButtonElement);
const again = element('again', HTMLButtonElement);

/** A model in a worker, with the session that keeps what it has read. */
interface Talk {
  readonly model: AsyncLanguageModel;
  readonly session: AsyncSession;
}

const engine = init({ models: true, threads: 'auto' });
let talk: Talk | undefined;
let running: AbortController | undefined; // a load or an answer

interface Message {
  readonly role: 'user' | 'assistant';
  content: string;
}
const messages: Message[] = [];

const endings: Record<FinishReason, string> = {
  stop: 'The answer is complete.',
  length: 'The answer has reached the longest length.',
  room: 'The model has no room for more. Start a new chat.',
  aborted: 'The answer was stopped.',
};

/** Does what takes long, one at a time: Stop ends it, and what goes wrong is shown. */
async function run(what: string, work: (signal: AbortSignal) => Promise<string>): Promise<void> {
  running?.abort();
  const own = (running = new AbortController());
  status.value = what;
  stop.hidden = false;
  further.hidden = true;
  send.disabled = again.disabled = true;
  let said: string;
  try {
    said = await work(own.signal);
  } catch (error) {
    said = own.signal.aborted ? 'stopped' : `failed: ${(error as Error).message}`;
  }
  if (running !== own) return; // something else runs by now
  running = undefined;
  status.value = said;
  stop.hidden = progress.hidden = true;
  text.disabled = send.disabled = again.disabled = talk === undefined;
}

const megabytes = (bytes: number): string =>
  (bytes / 1e6).toLocaleString('en', { maximumFractionDigits: 1 });

/** Loads a model in the worker, in place of the one before. What is fetched stays in the browser for the next time. */
const load = (
  name: string,
  source: string | Promise<ModelSource>,
  options: LoadModelOptions = {},
): Promise<void> =>
  run(`loading ${name}`, async (signal) => {
    const qkv = await engine;
    const onProgress = ({ loaded, total, rate, file }: Progress): void => {
      if (signal.aborted) return;
      progress.hidden = false;
      progress.value = loaded / total;
      status.value = `${file}: ${megabytes(loaded)} of ${megabytes(total)} MB, ${megabytes(rate)} MB/s`;
    };
    const all = { ...options, cache: { name: 'chat-vite' }, signal, onProgress };
    const model = await qkv.loadModel(await source, all);
    if (model.chatTemplates === undefined || model.tokenizerProblem !== undefined) {
      await model.dispose();
      throw new Error(
        model.tokenizerProblem ?? `${name} has no chat template: it is no chat model`,
      );
    }
    const session = await model.session();
    await talk?.model.dispose();
    talk = { model, session };
    begin();
    const count = model.parameterCount.toLocaleString('en');
    return `${name}: ${count} parameters, ${megabytes(model.bytes)} MB, threads: ${qkv.info.threads}`;
  });

/** Adds a message to the page; returns where its text is. */
function show(role: 'user' | 'assistant', content: string): Text {
  const name = document.createElement('span');
  Object.assign(name, { className: 'name', textContent: role === 'user' ? 'You: ' : 'Model: ' });
  const said = document.createTextNode(content);
  const bubble = Object.assign(document.createElement('p'), { className: role });
  bubble.append(name, said);
  log.append(bubble);
  log.scrollTop = log.scrollHeight;
  return said;
}

/** Forgets the conversation. */
function begin(): void {
  messages.length = 0;
  log.replaceChildren();
  further.hidden = true;
}

let shown: Text | undefined; // of the last answer

/** Answers the last message, or goes on with an answer that was cut. */
const answer = ({ model, session }: Talk): Promise<void> =>
  run('answering', async (signal) => {
    let last = messages.at(-1);
    if (last?.role !== 'assistant') {
      last = { role: 'assistant', content: '' };
      messages.push(last);
      shown = show('assistant', '');
    }
    const continues = last.content.trim() !== '';
    const turns = continues ? messages : messages.slice(0, -1);
    const tokens = model.chat(turns, {
      ...{ jinja: Template, session, continues, signal },
      ...{ maxTokens: most.valueAsNumber, temperature: temperature.valueAsNumber },
    });
    log.ariaBusy = 'true'; // screen readers wait for the whole answer
    try {
      for await (const token of tokens) {
        last.content += token.text;
        const isAtEnd = log.scrollTop + log.clientHeight > log.scrollHeight - 40;
        shown?.appendData(token.text);
        if (isAtEnd) log.scrollTop = log.scrollHeight;
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      log.ariaBusy = 'false';
    }
    const reason = tokens.finishReason ?? 'aborted';
    further.hidden = reason === 'stop' || reason === 'room';
    return endings[reason];
  });

source.addEventListener('submit', (event) => {
  event.preventDefault();
  const given = address.value.trim();
  void load(given, ...sourceOfAddress(given));
});

function loadFiles(given: FileList | null | undefined): void {
  const all = Array.from(given ?? []);
  if (all.length > 0) void load(all.map(({ name }) => name).join(', '), sourceOfFiles(all));
}
files.addEventListener('change', () => loadFiles(files.files));
for (const name of ['dragover', 'dragleave', 'drop'] as const) {
  document.addEventListener(name, (event) => {
    event.preventDefault(); // else the browser opens the file
    document.body.classList.toggle('dropping', name === 'dragover');
    if (name === 'drop') loadFiles(event.dataTransfer?.files);
  });
}

write.addEventListener('submit', (event) => {
  event.preventDefault();
  if (!talk || running || text.value.trim() === '') return;
  messages.push({ role: 'user', content: text.value });
  show('user', text.value);
  text.value = '';
  void answer(talk).then(() => text.focus());
});
text.addEventListener('keydown', (event) => {
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  write.requestSubmit();
});
further.addEventListener('click', () => {
  if (talk && !running) void answer(talk).then(() => text.focus());
});
stop.addEventListener('click', () => running?.abort());
again.addEventListener('click', () => {
  begin();
  void talk?.session.truncate(0);
  status.value = 'a new chat';
  text.focus();
});
