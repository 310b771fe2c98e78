import { MessageFlags, type APIEmbed, type Embed, type Message } from 'discord.js';

import type { ForwardedMessage, ShownPiece } from '../core/chat.ts';
import { clipAtWord, toSingleLine } from '../core/text.ts';
import { localMoment } from '../core/time.ts';

/** Together they fit a quoted message. */
const pieceMaxChars = 300;
const maxPieces = 5;
/** In later turns the words stand nowhere else. */
const forwardMaxChars = 1000;
/** Discord nests components three deep. */
const maxDepth = 4;

type Seen = Pick<Message, 'embeds' | 'components' | 'stickers' | 'flags' | 'attachments'> &
  Partial<Pick<Message, 'poll'>>;

type CardTexts = Pick<Embed | APIEmbed, 'author' | 'title' | 'description' | 'fields' | 'footer'>;

/** Of the bot's own messages only polls. */
export function shownIn(message: Seen, isOwn: boolean): readonly ShownPiece[] {
  const own = [...voiceIn(message), ...pollIn(message)];
  const others = isOwn
    ? []
    : [...cardsIn(message), ...Array.from(message.stickers.values(), ({ name }) => piece('sticker', [name]))];
  return [...own, ...others].filter(({ text }) => text !== '').slice(0, maxPieces);
}

/** Discord adds the preview of a link after the message. */
export function cardsIn({
  embeds = [],
  components = [],
}: {
  readonly embeds?: readonly CardTexts[] | undefined;
  readonly components?: readonly object[] | undefined;
}): readonly ShownPiece[] {
  const texts = [...embeds.map(textsOf), ...componentTexts(components).map((text) => [text])];
  return texts.map((each) => piece('card', each)).filter(({ text }) => text !== '');
}

export function isVoiceMessage({ flags }: Pick<Message, 'flags'>): boolean {
  return flags.has(MessageFlags.IsVoiceMessage);
}

/** A forwarded message, with the time it was first written [H3]. */
export function forwardPiece({ text, at, files, shown = [] }: ForwardedMessage): ShownPiece {
  const names = files.length === 0 ? [] : [`attached: ${files.map(({ name }) => name).join(', ')}`];
  const others = shown.map((each) => `${each.kind}: ${each.text}`);
  const written = `written ${localMoment(new Date(at), 'UTC')} UTC`;
  return piece('forwarded message', [written, text, ...names, ...others], forwardMaxChars);
}

function piece(
  kind: ShownPiece['kind'],
  parts: readonly (string | null | undefined)[],
  max = pieceMaxChars,
): ShownPiece {
  const said = parts.map((part) => toSingleLine(part ?? '')).filter((part) => part !== '');
  return { kind, text: clipAtWord(said.join(' · '), max).toWellFormed() };
}

function voiceIn(message: Seen): readonly ShownPiece[] {
  if (!isVoiceMessage(message)) return [];
  return Array.from(message.attachments.values(), ({ name, duration }) => {
    const seconds = Math.round(duration ?? 0);
    return piece('voice message', [name, `${Math.floor(seconds / 60)} min ${seconds % 60} s`]);
  });
}

function pollIn({ poll }: Seen): readonly ShownPiece[] {
  if (poll === undefined || poll === null) return [];
  const answers = Array.from(poll.answers.values(), ({ text, voteCount }) =>
    poll.resultsFinalized ? `${text ?? ''} (${voteCount ?? 0})` : text,
  );
  return [piece('poll', [poll.question.text, ...answers])];
}

function textsOf({ author, title, description, fields, footer }: CardTexts) {
  const named = (fields ?? []).map(({ name, value }) => `${name}: ${value}`);
  return [author?.name, title, description, ...named, footer?.text];
}

/** At any depth. Labels of buttons and menus are not content. */
function componentTexts(components: readonly object[], depth = maxDepth): readonly string[] {
  if (depth === 0) return [];
  return components.flatMap((component) => {
    if ('content' in component && typeof component.content === 'string') return [component.content];
    return 'components' in component && Array.isArray(component.components)
      ? componentTexts(
          component.components.filter((inner) => typeof inner === 'object' && inner !== null),
          depth - 1,
        )
      : [];
  });
}
