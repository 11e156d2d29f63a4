// The worker's side: listens to a port, and gives each message to the conversation that it is of.

import type { WorkerModels, WorkerPort } from '../../api/worker-types.js';
import { listen, post } from '../../platform/ports.js';
import { sendable } from '../protocol/sent-errors.js';
import {
  buffersOf,
  everyone,
  type InitRequest,
  isOurs,
  key,
  type Request,
} from '../protocol/messages.js';
import { Conversation, type Init, type Result } from './conversation.js';

/** Those who are listening already; a second time they would answer twice. */
const serving = new WeakSet<WorkerPort>();

export function host(port: WorkerPort, init: Init, models?: WorkerModels): void {
  if (serving.has(port)) return;
  serving.add(port);
  const conversations = new Map<string, Conversation>();

  const reply = (name: string, id: number, result: Result): void => {
    try {
      post(port, { [key]: name, id, ...result }, buffersOf(result.value));
    } catch (error) {
      post(port, { [key]: name, id, lengths: result.lengths, error: sendable('answer', error) });
    }
  };

  const start = (name: string, ask: InitRequest): void => {
    // It is sent again to those who say hello.
    if (conversations.has(name)) return;
    const conversation = new Conversation(name, models);
    conversations.set(name, conversation);
    conversation.start(init, ask.init, ask.watched).then(
      (ready) => reply(name, ask.id, { ready, lengths: [] }),
      (error: unknown) => {
        conversations.delete(name);
        reply(name, ask.id, { error: sendable('init', error), lengths: [] });
      },
    );
  };

  listen(port, 'message', (message) => {
    if (!isOurs(message)) return;
    const name = message[key];
    const request = message as Request;
    const conversation = conversations.get(name);
    if ('init' in request) start(name, request);
    else if ('method' in request) {
      const { id } = request;
      const onProgress = (progress: unknown): void => post(port, { [key]: name, id, progress });
      const result = conversation?.run(request, onProgress);
      if (result instanceof Promise) void result.then((later) => reply(name, id, later));
      else if (result) reply(name, id, result);
    } else if ('abort' in request) conversation?.abort(request.abort);
    else if ('end' in request) {
      conversation?.end();
      conversations.delete(name);
    }
  });
  listen(port, 'messageerror', () => post(port, { [key]: everyone, unreadable: true }));
  post(port, { [key]: everyone, hello: true });
}
