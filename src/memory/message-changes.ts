import type { MessageChange } from '../core/changes.ts';
import type { ChannelPort } from '../core/channels.ts';
import type { SessionKey } from '../core/place.ts';
import { maskSecrets } from '../core/secrets.ts';
import { reachIn } from '../core/visibility.ts';
import type { WithdrawnMessage } from './layer.ts';
import type { SessionLog } from './log/session-log.ts';
import { saysAny, withdrawnTerms } from './log/withdrawal.ts';

/** The outbox of a channel, as far as changes reach it. */
export interface AnswerKeeper {
  /** Drops answers that were not sent yet. */
  deleteUnsent(
    channelId: string,
    isWithdrawn: (answer: {
      readonly messageIds: readonly string[];
      readonly text: string;
      readonly footer?: { readonly lines: readonly string[] } | undefined;
    }) => boolean,
  ): Promise<unknown>;
  /** Hides these messages from history, though they stay on Discord. */
  hide(channelId: string, messageIds: readonly string[]): Promise<void>;
  /** These messages get no answer any more, even if Discord sends them again. */
  markHandled(channelId: string, messageIds: readonly string[]): Promise<void>;
  /** Deletes answers to what a person said in these channels before a moment, ISO 8601, unfinished ones too. */
  erase(userId: string, before: string, channelIds: readonly string[]): Promise<unknown>;
}

/** A conversation that a change may concern. `isHeld`: a layer has something of it that no log may have. */
export interface Concerned {
  readonly session: SessionKey;
  readonly isHeld: boolean;
}

interface KeptPorts {
  readonly log: Pick<SessionLog, 'message'>;
  /** Whether what a person wrote in a conversation, by default now, may be written down [K9]. Must not reject. */
  readonly mayStore: (session: SessionKey, at?: string) => Promise<boolean>;
  readonly placeOf: ChannelPort['placeOf'];
  readonly conversationsOf: (change: MessageChange) => Promise<readonly Concerned[]>;
}

/**
 * A change as it goes to the disk: secrets masked [K14], with who can read the channel now [V1]. An edit made in a
 * pause takes the message out [K9], unless the log has these words already.
 */
export async function asKept(noted: MessageChange, ports: KeptPorts): Promise<MessageChange> {
  if (noted.kind === 'deleted') return noted;
  const { channelId, messageId } = noted;
  const reach = reachIn(channelId, await ports.placeOf(channelId));
  const text = maskSecrets(noted.text);
  // What cannot be looked at may be theirs.
  return (await mayKeep({ ...noted, text }, ports).catch(() => false))
    ? { ...noted, text, reach }
    : { kind: 'deleted', channelId, messageIds: [messageId] };
}

/** Where Discord does not tell whose it is, those count who have the message. */
async function mayKeep(
  about: Extract<MessageChange, { kind: 'edited' }>,
  ports: KeptPorts,
): Promise<boolean> {
  const { channelId, messageId, authorId: userId, text, editedAt } = about;
  const own = userId === undefined ? undefined : [{ session: { channelId, userId }, isHeld: true }];
  for (const { session, isHeld } of own ?? (await ports.conversationsOf(about))) {
    if (await ports.mayStore(session, editedAt)) continue;
    const known = await ports.log.message(session, messageId);
    if (known !== text && (isHeld || known !== undefined)) return false;
  }
  return true;
}

/** Of an edited message's answers those go that say what it says no more. */
export async function deleteAnswers(
  answers: Pick<AnswerKeeper, 'deleteUnsent'>,
  change: MessageChange,
  messages: readonly WithdrawnMessage[],
): Promise<void> {
  const ids = new Set(messageIdsOf(change));
  const before = messages.find((message) => ids.has(message.before.id))?.before.text ?? '';
  const gone = change.kind === 'edited' ? withdrawnTerms(before, change.text) : undefined;
  await answers.deleteUnsent(
    change.channelId,
    ({ messageIds, text, footer }) =>
      messageIds.some((id) => ids.has(id)) &&
      (gone === undefined || saysAny([text, ...(footer?.lines ?? [])].join('\n'), gone)),
  );
}

export function messageIdsOf(change: MessageChange): readonly string[] {
  return change.kind === 'edited' ? [change.messageId] : change.messageIds;
}
