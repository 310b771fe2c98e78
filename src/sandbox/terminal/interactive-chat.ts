import { SandboxError } from '../control/sandbox-control.ts';
import { followSandbox, type ChatEvent, type Said } from './chat-events.ts';
import { Chat } from './chat.ts';
import { createGuide, type Suggestion } from './guide.ts';
import type { PromptLine } from './prompt-line.ts';
import type { ScriptedChatOptions } from './scripted-chat.ts';
import type { Transcript } from './transcript.ts';

/** Discord shows that somebody types for so long, in milliseconds. */
const typingMs = 10_000;

interface InteractiveChatOptions extends Pick<ScriptedChatOptions, 'sandbox' | 'settled' | 'demonstrate'> {
  readonly prompt: PromptLine;
  /** Writes above the prompt. */
  readonly transcript: Transcript;
  /** What a newcomer is led through. */
  readonly suggestions: readonly Suggestion[];
}

/** The chat of a person at a terminal: what the bot writes appears as it grows. Resolves at the end of the input or at `/quit`. */
export async function chatInteractively(options: InteractiveChatOptions): Promise<void> {
  const { sandbox, prompt, transcript } = options;
  const { bot } = await sandbox.info();
  const chat = await Chat.open({
    sandbox,
    transcript,
    echoes: false,
    afterActing: () => Promise.resolve(),
    demonstrate: () => options.demonstrate({ transcript, signal: prompt.closed }),
  });
  const guide = createGuide(options.suggestions, transcript);
  const growing = new GrowingMessage(prompt);
  let shown: ShownMessage | undefined;
  let showing = Promise.resolve();
  let typing: NodeJS.Timeout | undefined;

  const stopFollowing = followSandbox({
    sandbox,
    botId: bot.id,
    onEvent(event) {
      showing = showing.then(() => show(event));
    },
  });
  const stopWatching = sandbox.subscribe((event) => {
    if (event.type !== 'typing-started' || event.userId !== bot.id || !chat.isHere(event.channel.id)) return;
    showTyping(true);
  });

  async function show(event: ChatEvent): Promise<void> {
    if (event.kind === 'said') {
      showTyping(false);
      const { id } = event.message;
      const { text } = await chat.lineOf(event);
      const growth = growthOf(shown, { id, text, isCorrection: event.isCorrection }, growing.shows(id));
      ({ shown } = growth);
      const line = await chat.lineOf({ ...event, isCorrection: growth.isEdited });
      growing.show(id, transcript.format({ ...line, text: growth.text }));
      return;
    }
    if (event.kind === 'deleted' && growing.shows(event.message.id)) growing.drop();
    await chat.show([event]);
  }

  function showTyping(isTyping: boolean): void {
    clearTimeout(typing);
    prompt.hint(isTyping ? `(${bot.name} is typing…)` : '');
    if (isTyping) typing = setTimeout(() => showTyping(false), typingMs);
  }

  /** Below the answer to what was tried; when that does not come, all the same. */
  async function suggestNext(): Promise<void> {
    await sandbox.delivered().catch((error: unknown) => {
      if (!(error instanceof SandboxError)) throw error;
    });
    await options.settled();
    await showing;
    growing.finish();
    if (!prompt.closed.aborted) guide.show();
  }

  try {
    guide.begin();
    prompt.ask(`${chat.position}> `);
    for await (const line of prompt.lines) {
      if (!(await chat.take(line))) break;
      prompt.ask(`${chat.position}> `);
      if (guide.took(line)) void suggestNext();
    }
  } finally {
    stopFollowing();
    stopWatching();
    clearTimeout(typing);
    await showing;
    growing.finish();
    prompt.close();
  }
}

/** A message that was not changed for so long counts as finished, in milliseconds; a bot edits every second or so. */
const quietMs = 2_500;

/**
 * The newest message of the bot, kept right above the prompt while it may still grow, and written for good when it has been
 * quiet, or something else comes.
 */
export class GrowingMessage {
  readonly #prompt: PromptLine;
  #messageId: string | undefined;
  #text = '';
  #quiet: NodeJS.Timeout | undefined;

  constructor(prompt: PromptLine) {
    this.#prompt = prompt;
  }

  /** Whether the message can still be changed where it stands. */
  shows(messageId: string): boolean {
    return this.#messageId === messageId && this.#prompt.isLive;
  }

  /** Shows a message as it is now; one that stands above the prompt is replaced. `text` is whole lines. */
  show(messageId: string, text: string): void {
    if (!this.shows(messageId)) this.finish();
    this.#messageId = messageId;
    this.#text = text;
    this.#prompt.live(text);
    clearTimeout(this.#quiet);
    this.#quiet = setTimeout(() => this.finish(), quietMs);
  }

  /** Writes the message for good. */
  finish(): void {
    const isOpen = this.#prompt.isLive;
    const text = this.#text;
    this.drop();
    if (isOpen) this.#prompt.write(text);
  }

  /** Takes the message away. */
  drop(): void {
    clearTimeout(this.#quiet);
    this.#messageId = undefined;
    this.#text = '';
    this.#prompt.live('');
  }
}

/** The newest message on the screen. */
interface ShownMessage {
  readonly id: string;
  readonly text: string;
  /** What of it stands further up for good; the rest may still change. */
  readonly prefix: string;
}

/** A message as it is now. */
type NewWording = Pick<ShownMessage, 'id' | 'text'> & Pick<Said, 'isCorrection'>;

interface Growth {
  readonly shown: ShownMessage;
  /** What is to be shown: all of the message, or what came after the part that stands for good. */
  readonly text: string;
  readonly isEdited: boolean;
}

/** What to show of a message that may have grown since it was shown; `isLive` where that can still be replaced. */
export function growthOf(last: ShownMessage | undefined, now: NewWording, isLive: boolean): Growth {
  const { id, text, isCorrection } = now;
  const all: Growth = { shown: { id, text, prefix: '' }, text, isEdited: isCorrection };
  if (last?.id !== id) return all;
  const prefix = isLive ? last.prefix : last.text;
  if (prefix === '') return { ...all, isEdited: false };
  if (!text.startsWith(prefix) || text === prefix) return all;
  return {
    shown: { id, text, prefix },
    text: `… ${text.slice(prefix.length).trimStart()}`,
    isEdited: false,
  };
}
