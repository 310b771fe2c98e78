import type { ChannelView, PersonView } from '../control/control-views.ts';
import type { MessageView } from '../control/message-view.ts';
import { SandboxError } from '../control/sandbox-control.ts';
import type { SandboxControl } from '../control/local-control.ts';
import { quoted, type Names } from './readable.ts';

/** Who does something, and where. */
export interface Scene {
  readonly sandbox: SandboxControl;
  readonly speaker: Pick<PersonView, 'id' | 'name'>;
  readonly place: ChannelView;
  readonly botId: string;
  readonly names: Names;
}

/** What came of an action, for the chat to show and to wait for. */
export interface ActionResult {
  /** For where what people type is not seen: what they said, or did. */
  readonly echo?: { readonly kind: 'said' | 'did'; readonly text: string; readonly remark?: string };
  /** Lines for the one who asked. */
  readonly tell?: string;
  /** The id of a place to go to. */
  readonly goTo?: string;
  /** The bot is expected to write something. */
  readonly expectsAnswer?: true;
}

/** A command of the chat that stands for something people do in Discord. */
export interface ChatAction {
  /** What follows the command's name. */
  readonly usage: string;
  readonly meaning: string;
  /** @throws {SandboxError} for what cannot be done, with what to do instead. */
  act(scene: Scene, rest: string): Promise<ActionResult>;
}

/** What the speaker sees of the place, oldest first. @throws {SandboxError} where they cannot see it. */
export async function visibleMessages({ sandbox, speaker, place }: Scene): Promise<readonly MessageView[]> {
  const messages = await sandbox.messages({ in: place.id, as: speaker.id });
  return messages.filter(({ system }) => system === undefined);
}

/** @throws {SandboxError} for a message that one person sees alone: nobody can do much with it in Discord. */
export function requireShared({ isEphemeral, text }: MessageView): void {
  if (!isEphemeral) return;
  throw new SandboxError(
    `Only you see ${quoted(text)}: it takes no reactions, replies or pins, and has no menu`,
  );
}

/** The newest message that everybody here can see, or the one counted to. @throws {SandboxError} */
export function newestMessage(scene: Scene, count: number | undefined): Promise<MessageView> {
  return sharedMessage(scene, count, () => true, 'There are no messages here yet');
}

/** The bot's newest message for all, or the one counted to, of anybody. @throws {SandboxError} with `missing` for none. */
export function botsMessage(scene: Scene, count: number | undefined, missing: string): Promise<MessageView> {
  return sharedMessage(scene, count, ({ author }) => author.id === scene.botId, missing);
}

async function sharedMessage(
  scene: Scene,
  count: number | undefined,
  fits: (message: MessageView) => boolean,
  missing: string,
): Promise<MessageView> {
  const isMeant = (message: MessageView) => !message.isEphemeral && fits(message);
  const target = findTarget(await visibleMessages(scene), count, isMeant, missing);
  requireShared(target);
  return target;
}

/** A message of the place, counted from the newest: `^1` is that. */
interface Target {
  readonly count?: number;
  /** What else was written. */
  readonly rest: string;
}

/** Reads `^2` at the beginning and, where nothing that people say stands there, at the end. */
export function readTarget(words: string, where: 'beginning' | 'either end'): Target {
  const first = /^\^(\d{1,4})(?:\s+|$)([^]*)$/u.exec(words);
  if (first !== null) return { count: Number(first[1]), rest: first[2] ?? '' };
  const last = where === 'either end' ? /^([^]*?)\s*(?<!\S)\^(\d{1,4})$/u.exec(words) : null;
  return last === null ? { rest: words } : { count: Number(last[2]), rest: last[1] ?? '' };
}

/**
 * The message that is meant: the one counted to, else the newest that fits.
 * @throws {SandboxError} with `otherwise` where none fits, or when the count goes too far.
 */
export function findTarget<Message>(
  messages: readonly Message[],
  count: number | undefined,
  fits: (message: Message) => boolean,
  otherwise: string,
): Message {
  if (count === undefined) {
    const found = messages.findLast(fits);
    if (found === undefined) throw new SandboxError(otherwise);
    return found;
  }
  const found = count === 0 ? undefined : messages.at(-count);
  if (found !== undefined) return found;
  throw new SandboxError(
    messages.length === 0
      ? 'There are no messages here yet'
      : `^${count} is not a message here; ^1 is the newest, ^${messages.length} the oldest`,
  );
}

/** Reads a line that is a count or nothing. @throws {SandboxError} with `usage` */
export function readOnlyTarget(rest: string, usage: string): { readonly count?: number } {
  const { rest: more, ...target } = readTarget(rest, 'beginning');
  if (more !== '') throw new SandboxError(usage);
  return target;
}

/** @throws {SandboxError} with `question` where nothing was said. */
export function requireWords(words: string, question: string): void {
  if (words === '') throw new SandboxError(question);
}
