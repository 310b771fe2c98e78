import type { AnswerMode, CommandCall } from '../core/chat.ts';
import { hasAccess, isListed, worksIn, type AccessSettings, type ChannelFacts } from './access.ts';

/** What the decision needs to know of a message. */
export interface MessageFacts extends ChannelFacts {
  readonly authorId: string;
  readonly authorKind: 'human' | 'self' | 'bot';
  /** Written by nobody: a join, a pin, a webhook's post. */
  readonly isSystem: boolean;
  /** The text as it is handed on: without the bot's mention before it. */
  readonly text: string;
  readonly hasAttachments: boolean;
  /** Fetched after a gap, in which or before which it was edited. */
  readonly isEdited: boolean;
  /** Pinged by name; @everyone, @here and roles do not count. */
  readonly mentionsBot: boolean;
  readonly repliesToBot: boolean;
  /** In a thread that the bot made. */
  readonly isOwnThread: boolean;
  /** What the owner has set for this place, if anything; never in DMs. It wins over threads of the bot's own and configured channels. */
  readonly answerMode?: AnswerMode | undefined;
}

export interface IntakePolicy extends AccessSettings {
  /** `undefined` where the text is no command [K1]. */
  readonly parseCommand: (text: string) => CommandCall | undefined;
}

export type IntakeDecision =
  | {
      readonly kind: 'ignore';
      readonly reason:
        | 'self'
        | 'system'
        | 'bot'
        | 'no-access'
        | 'other-channel'
        | 'empty'
        | 'edited'
        | 'not-addressed';
    }
  | { readonly kind: 'command'; readonly command: CommandCall }
  | { readonly kind: 'turn' };

/**
 * What becomes of a message [G1][G2]. A command needs access and channel, but no mention; it is never a turn [F2]. A bot that may
 * speak is answered only when it mentions this one or replies to it, so that two bots in one channel do not go on for ever; its
 * commands are ignored, since it has no memory to command. Nothing is commanded by an edit: what was not a command when it was sent is none.
 */
export function decideIntake(message: MessageFacts, policy: IntakePolicy): IntakeDecision {
  const { authorKind, authorId } = message;
  if (authorKind === 'self') return { kind: 'ignore', reason: 'self' };
  if (message.isSystem) return { kind: 'ignore', reason: 'system' };
  const isBot = authorKind === 'bot';
  if (isBot && !policy.allowedBotIds.includes(authorId)) return { kind: 'ignore', reason: 'bot' };
  if (!isBot && !hasAccess(policy, authorId)) return { kind: 'ignore', reason: 'no-access' };
  if (!worksIn(policy, message)) return { kind: 'ignore', reason: 'other-channel' };
  if (message.text === '' && !message.hasAttachments) return { kind: 'ignore', reason: 'empty' };
  const command = policy.parseCommand(message.text);
  if (command !== undefined) {
    if (isBot) return { kind: 'ignore', reason: 'bot' };
    return message.isEdited ? { kind: 'ignore', reason: 'edited' } : { kind: 'command', command };
  }
  return isAddressed(message, policy) ? { kind: 'turn' } : { kind: 'ignore', reason: 'not-addressed' };
}

function isAddressed(message: MessageFacts, policy: IntakePolicy): boolean {
  if (message.mentionsBot || message.repliesToBot) return true;
  if (message.authorKind === 'bot') return false;
  if (message.answerMode !== undefined) return message.answerMode === 'everything';
  return message.isDm || message.isOwnThread || isListed(policy.autoReplyChannelIds, message);
}
