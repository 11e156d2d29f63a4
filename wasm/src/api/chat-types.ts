// Conversations: what is said, and how a model's file has it written.

/** What one side of a conversation said, in the fields that every template reads. */
export interface ChatTurn {
  /** Who says it: `'system'`, `'user'`, `'assistant'`, or what else the template knows. */
  readonly role: string;
  /** The text, or parts of it where the template takes a list. */
  readonly content?: string | readonly object[] | null | undefined;
}

/**
 * What one side of a conversation said. Fields beside `role` and `content` are for the template, as `tool_calls` or `reasoning_content`;
 * objects of an interface of yours may have them too.
 */
export type ChatMessage = ChatTurn | (ChatTurn & Readonly<Record<string, unknown>>);

/** The class `Template` of `@huggingface/jinja`, as far as it is used. */
export interface JinjaTemplate {
  /** Reads a template. */
  new (template: string): {
    /** The text for these variables. */
    render(variables: Record<string, unknown>): string;
  };
}

/** What a model's files say of conversations: templates, and texts that templates have as variables. */
export interface ChatTemplates {
  /** By their names; `default` is the one for conversations. */
  readonly templates: Readonly<Record<string, string>>;
  /** Texts of tokens, as `bos_token`. */
  readonly tokens: Readonly<Record<string, string>>;
  /** The texts of all control tokens of the tokenizer. */
  readonly controls: readonly string[];
}

/** How a conversation becomes a prompt. */
export interface ChatPromptOptions {
  /**
   * `Template` of `@huggingface/jinja`. In Node it is found where that package is installed; elsewhere it has to be given.
   */
  jinja?: JinjaTemplate | undefined;
  /**
   * A template, or the name of one where the file has several, as `'tool_use'`. Default that of the file; with `tools` its
   * `'tool_use'` if there is one.
   */
  template?: string | undefined;
  /** Functions that the model may call, as the template wants them: JSON schemas in most. Default none. */
  tools?: readonly object[] | undefined;
  /** Documents to answer from, as the template wants them. Default none. */
  documents?: readonly object[] | undefined;
  /** Other variables of the template, as `{ enable_thinking: false }`. */
  variables?: Readonly<Record<string, unknown>> | undefined;
  /** Whether the last message is the beginning of the answer, which goes on. Default false: an answer begins after it. */
  continues?: boolean | undefined;
  /**
   * Whether the texts of control tokens in messages, tools, documents and variables, as `<|im_end|>`, are plain text: only those of the
   * template itself are tokens. Default true; it needs a tokenizer with `encodeBare`.
   */
  plain?: boolean | undefined;
}

/** A prompt out of a conversation. */
export interface ChatPrompt {
  /** What the template wrote. */
  readonly text: string;
  /** Its tokens. */
  readonly ids: Int32Array;
}
