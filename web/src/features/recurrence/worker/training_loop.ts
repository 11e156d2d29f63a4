import type { TrainQkv } from 'qkv/train';
import { KINDS, type Kind } from '../shared/model_configs';
import type { News, Order, Reached, Trained } from '../shared/protocol';
import { Session } from './three_models';
import { TESTED_LENGTHS } from '../shared/task';
import { LENGTHS, REPEATS, type Timing } from '../shared/timing_settings';
import { timings } from './layer_timing';

/** A turn of training lasts about so long, in ms: then it reports to the page and reads orders. */
const TURN = 60;
/** Steps between two looks at what the models say, and between two counts of what is right. */
const LOOK = 20;
const COUNT = 100;
/** While models learn, every other length is counted, of one round of sequences. At rest all are, of more. */
const COARSE = TESTED_LENGTHS.filter((_, i) => i % 2 === 0);
const ENOUGH = 64;

/** One question that takes some milliseconds. */
interface Question {
  readonly kind: Kind;
  readonly length: number;
}

const questions = (lengths: readonly number[]): Question[] =>
  lengths.flatMap((length) => KINDS.map((kind) => ({ kind, length })));

/** What the worker of the panel does, in turns of some milliseconds. */
export class Desk {
  readonly #qkv: TrainQkv;
  readonly #now: () => number;
  #session: Session | null = null;
  #first: Reached['first'] | null = null;
  #running = false;
  #source: readonly number[] = [];
  /** Whether what the models say, and how far gradients reach, is of older weights. */
  #speak = false;
  #reach = false;
  /** What is still to be counted of the weights as they are. */
  #questions: Question[] = [];
  #times: Generator<Timing[], void> | null = null;
  #timed = 0;

  constructor(qkv: TrainQkv, now: () => number = () => performance.now()) {
    this.#qkv = qkv;
    this.#now = now;
  }

  get session(): Session | null {
    return this.#session;
  }

  get busy(): boolean {
    const asks = this.#running || this.#speak || this.#reach || this.#questions.length > 0;
    return this.#times !== null || (this.#session !== null && asks);
  }

  take(order: Order): News[] {
    switch (order.type) {
      case 'begin':
        this.#adopt(Session.begin(this.#qkv, order.seed), null);
        this.#run(order.running);
        return [{ type: 'begun' }, ...this.#progress()];
      case 'load':
        this.#load(order);
        return [{ type: 'begun' }, ...this.#progress()];
      case 'source':
        this.#source = order.source;
        this.#speak = true;
        return [];
      case 'measure':
        this.#times?.return();
        this.#times = timings(this.#qkv, this.#now);
        this.#timed = 0;
        return [];
      case 'step':
        this.#running = false;
        this.#train(1);
        this.#rest();
        break;
      default:
        this.#run(order.type === 'play' && this.#session?.isDone === false);
    }
    return this.#progress();
  }

  /** A little of what is to be done. */
  turn(): News[] {
    if (this.#times) return this.#time(this.#times);
    const session = this.#session;
    if (!session) return [];
    if (this.#speak) return this.#speakNow(session);
    if (this.#reach) return this.#reachNow(session);
    if (this.#questions.length > 0) return this.#count(session);
    if (!this.#running) return [];
    this.#train(Infinity);
    return this.#progress();
  }

  #adopt(session: Session, first: Reached['first'] | null): void {
    this.#session?.dispose();
    this.#session = session;
    this.#first = first ?? reachOf(session);
    this.#running = false;
    this.#rest();
  }

  /** Files have no initial weights; the seed they were trained from has. */
  #load(trained: Trained): void {
    const initial = Session.begin(this.#qkv, trained.seed);
    const first = reachOf(initial);
    initial.dispose();
    this.#adopt(Session.load(this.#qkv, trained), first);
  }

  #run(running: boolean): void {
    this.#running = running;
    // Who pressed play waits for steps, not for counts of weights that are gone in a moment.
    if (running) this.#questions = [];
    else this.#rest();
  }

  /** All lengths, again and again, until there are enough of each. */
  #rest(): void {
    this.#look();
    const counted = this.#session?.tallies.transformer[0]?.sequences ?? 0;
    if (this.#questions.length === 0 && counted < ENOUGH)
      this.#questions = questions(TESTED_LENGTHS);
  }

  #look(): void {
    this.#speak = this.#source.length > 0;
    this.#reach = true;
  }

  /** Steps until the turn is over, or it is time to look at what they did. */
  #train(most: number): void {
    const session = this.#session;
    if (!session || session.isDone) return;
    const until = this.#now() + TURN;
    for (let n = 0; n < most && !session.isDone; n++) {
      session.step(this.#now);
      this.#questions = [];
      if (session.steps % COUNT === 0) this.#questions = questions(COARSE);
      if (session.steps % LOOK === 0) this.#speak = this.#source.length > 0;
      if (session.steps % COUNT === 0) this.#reach = true;
      if (session.steps % LOOK === 0 || this.#now() > until) break;
    }
    if (!session.isDone) return;
    this.#running = false;
    this.#questions = [];
    this.#rest();
  }

  #progress(): News[] {
    const session = this.#session;
    if (!session) return [];
    const { origin, seed, isDone: done, learners } = session;
    return [{ type: 'progress', origin, seed, running: this.#running, done, learners }];
  }

  #speakNow(session: Session): News[] {
    this.#speak = false;
    const source = this.#source;
    if (source.length === 0) return [];
    const [gru, gru_attention, transformer] = [
      session.say('gru', source),
      session.say('gru_attention', source),
      session.say('transformer', source),
    ];
    const said = { gru, gru_attention, transformer };
    return [{ type: 'spoken', steps: session.steps, source, said }];
  }

  #reachNow(session: Session): News[] {
    this.#reach = false;
    const now = reachOf(session);
    return [{ type: 'reached', steps: session.steps, first: this.#first ?? now, now }];
  }

  /** Reports when all three models have been tested. */
  #count(session: Session): News[] {
    const [question] = this.#questions;
    this.#questions = this.#questions.slice(1);
    if (!question) return [];
    session.ask(question.kind, question.length);
    if (this.#questions.length === 0 && !this.#running) this.#again(session);
    // While models learn, a sweep is reported as a whole: half of one would be beside half of the one before.
    if (question.kind !== 'transformer' || (this.#running && this.#questions.length > 0)) return [];
    return [{ type: 'counted', steps: session.steps, tallies: session.tallies }];
  }

  #again({ tallies }: Session): void {
    const fewest = Math.min(...tallies.transformer.map(({ sequences }) => sequences));
    if (fewest < ENOUGH) this.#questions = questions(TESTED_LENGTHS);
  }

  #time(times: Generator<Timing[], void>): News[] {
    const { done, value } = times.next();
    if (done) this.#times = null;
    else this.#timed++;
    const { variant } = this.#qkv.info;
    const part = done ? 1 : this.#timed / (1 + LENGTHS.length * REPEATS);
    return [{ type: 'timed', variant, part, timings: value ?? null }];
  }
}

const reachOf = (session: Session): Reached['first'] => ({
  gru: session.reach('gru'),
  gru_attention: session.reach('gru_attention'),
  transformer: session.reach('transformer'),
});
