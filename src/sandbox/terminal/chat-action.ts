import type { ChannelView, MessageView, PersonView } from '../control/control-views.ts';
import type { SandboxControl } from '../control/sandbox-control.ts';
import { SandboxError } from '../control/sandbox-error.ts';
import { findTarget } from './message-target.ts';
import { quoted } from './readable.ts';
import type { Names } from './readable.ts';

/** Who does something, and where. */
export interface Scene {
  readonly sandbox: SandboxControl;
  readonly speaker: Pick<PersonView, 'id' | 'name'>;
  readonly place: ChannelView;
  readonly botId: string;
  readonly names: Names;
}

/** What came of an action, for the chat to show and to wait for. */
export interface Acted {
  /** For where what people type is not seen: what they said, or did. */
  readonly echo?: { readonly kind: 'said' | 'did'; readonly text: string; readonly remark?: string };
  /** Lines for the one who asked. */
  readonly tell?: string;
  /** The id of a place to go to. */
  readonly goTo?: string;
  /** Whether the bot is expected to write something. */
  readonly expectsAnswer: boolean;
}

/** A command of the chat that stands for something people do in Discord. */
export interface ChatAction {
  /** What follows the command's name. */
  readonly usage: string;
  readonly meaning: string;
  /** @throws {SandboxError} for what cannot be done, with what to do instead. */
  act(scene: Scene, rest: string): Promise<Acted>;
}

/** What was written in the place, as far as the speaker sees it, oldest first. @throws {SandboxError} where the speaker cannot see it. */
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
export async function newestMessage(scene: Scene, count: number | undefined): Promise<MessageView> {
  const target = findTarget(
    await visibleMessages(scene),
    count,
    ({ isEphemeral }) => !isEphemeral,
    'There are no messages here yet',
  );
  requireShared(target);
  return target;
}

/** The bot's newest message that everybody here can see, or the one counted to, of anybody. @throws {SandboxError}, with `missing` where there is none. */
export async function botsMessage(
  scene: Scene,
  count: number | undefined,
  missing: string,
): Promise<MessageView> {
  const target = findTarget(
    await visibleMessages(scene),
    count,
    ({ author, isEphemeral }) => author.id === scene.botId && !isEphemeral,
    missing,
  );
  requireShared(target);
  return target;
}
