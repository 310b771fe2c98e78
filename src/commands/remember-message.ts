import type { MenuRequest } from '../core/application-command.ts';
import type { SessionKey } from '../core/place.ts';
import { withoutMentionMarks } from '../core/own-words.ts';
import { sessionOf } from '../core/turn-context.ts';
import type { CommandOptions } from './command-options.ts';
import { rememberText } from './remember-text.ts';

/** What is known of the messages in a channel. */
export interface MessageKnowledge {
  /** What the session's log has of a message, whole; `undefined` where it is none of this session. */
  readonly logged: (session: SessionKey, messageId: string) => Promise<string | undefined>;
  /** Whether the message is a command, an answer to one, or an error line [F2]. */
  readonly isHidden: (channelId: string, messageId: string) => Promise<boolean>;
}

/** Remembers a message as its owner's word: one that the asker wrote, or one that the bot answered them with. */
export async function rememberMessage(
  request: MenuRequest,
  options: Pick<CommandOptions, 'durable' | 'settings' | 'isMemoryOff'> & MessageKnowledge,
): Promise<string> {
  if (!options.settings.durableEnabled) return 'Durable memory is switched off on this bot.';
  const { message } = request;
  const refusal = await refusalOf(request, options);
  if (refusal !== undefined) return refusal;
  const text = withoutMentionMarks(message.text).trim();
  if (text === '') return 'There is no text in this message that I could remember.';
  return rememberText({ ...request, id: message.id, ephemeral: true }, text, options);
}

async function refusalOf(
  request: MenuRequest,
  { logged, isHidden }: MessageKnowledge,
): Promise<string | undefined> {
  const { message, speaker } = request;
  const { kind, id } = message.author;
  if (kind === 'human' && id !== speaker.id) return othersMessage;
  if (kind === 'bot') return othersMessage;
  if (await isHidden(message.channelId, message.id)) return noMessage;
  if (kind === 'self' && (await logged(sessionOf(request), message.id)) === undefined) return othersAnswer;
  return undefined;
}

const othersMessage =
  'I remember only what you said yourself or what I answered you, not what others wrote. Nothing was saved; `/memory remember` keeps it in your own words.';
const othersAnswer =
  'This is no answer of mine to you, so I do not keep it for you. Nothing was saved; `/memory remember` keeps it in your own words.';
const noMessage =
  'This is a command, an answer to one, or a notice of mine, which I do not remember. Nothing was saved; `/memory remember` keeps something in your own words.';
