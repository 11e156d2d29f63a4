import type { Qkv } from 'qkv';
import { describeFailure } from '../../../domain/describe_failure';
import type { Opened } from '../../model/worker/open_model';
import type { Microscope, MicroscopeAsk, Prompts, ToMicroscope } from '../shared/protocol';
import { cutResult, cutsOf, editsOf, promptsOf, sharesOf } from './answers';
import { computeMaps } from './maps';
import { wholePass } from './whole_pass';

/** Takes the loaded model apart: what the panel asks is answered with the one model that is there. */
export class MicroscopeDesk {
  readonly #qkv: Qkv;
  readonly #of: Opened;
  readonly #say: (news: Partial<Microscope>) => void;
  #prompts: Prompts | null = null;
  /** What the prompts and the maps followed from. */
  #key = '';
  /** What the shares and the next tokens followed from: they stay while only the picture of the pass moves. */
  #cutKey = '';
  #maps: AbortController | undefined;

  constructor(qkv: Qkv, of: Opened, say: (news: Partial<Microscope>) => void) {
    [this.#qkv, this.#of, this.#say] = [qkv, of, say];
  }

  receive(message: ToMicroscope): void {
    if (message.kind === 'maps') void this.#computeMaps();
    else if (message.kind === 'stop-maps') this.#maps?.abort();
    else {
      try {
        this.#answer(message.ask);
      } catch (error) {
        this.#cutKey = '';
        if (!this.#prompts) this.#say({ prompts: null, maps: null });
        this.#say({ shares: null, cut: null, pass: null, failure: describeFailure(error) });
      }
    }
  }

  /** Of another model nothing is reported any more. */
  end(): void {
    this.#maps?.abort();
    this.#maps = undefined;
  }

  #answer(ask: MicroscopeAsk): void {
    if (!this.#of.info.speaks) return;
    const key = JSON.stringify([ask.clean, ask.corrupt, ask.answer, ask.instead]);
    if (key !== this.#key) {
      this.end();
      // If the new prompts fail, those before them must not answer in their place.
      [this.#key, this.#prompts] = ['', null];
      this.#prompts = promptsOf(this.#qkv, this.#of, ask);
      this.#key = key;
      this.#say({ prompts: this.#prompts, maps: null, failure: null });
    }
    const prompts = this.#prompts;
    if (!prompts?.answer) {
      this.#cutKey = '';
      this.#say({ shares: null, cut: null, pass: null, failure: null });
      return;
    }
    const cuts = cutsOf(this.#of, ask, prompts.clean.ids.length);
    const edit = editsOf(cuts);
    const cutKey = JSON.stringify([this.#key, cuts]);
    if (cutKey !== this.#cutKey) {
      const shares = sharesOf(this.#of, prompts, edit);
      const cut = cutResult(this.#qkv, this.#of, prompts, cuts);
      this.#cutKey = cutKey;
      this.#say({ shares, cut });
    }
    const { at, head } = ask;
    this.#say({ pass: wholePass(this.#qkv, this.#of, prompts, { at, head, edit }), failure: null });
  }

  async #computeMaps(): Promise<void> {
    this.#maps?.abort();
    const prompts = this.#prompts;
    if (!prompts?.answer || prompts.problem !== null) return;
    const control = (this.#maps = new AbortController());
    const isLatest = () => this.#maps === control;
    try {
      await computeMaps(this.#of, prompts, {
        signal: control.signal,
        say: (maps) => {
          if (isLatest()) this.#say({ maps });
        },
      });
    } catch (error) {
      if (isLatest()) this.#say({ maps: null, failure: describeFailure(error) });
    }
  }
}
