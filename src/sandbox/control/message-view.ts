import { ButtonStyle, ComponentType, MessageType } from 'discord-api-types/v10';

import type { Button, ComponentRow, Interaction, Message, Poll } from '../world/entities.ts';
import { isEphemeral, isThere } from '../world/messages.ts';
import { isOver } from '../world/reactions-and-polls.ts';
import { userOf, type World } from '../world/world.ts';
import { personView, type PersonView } from './control-views.ts';

export interface MessageView {
  readonly id: string;
  readonly channelId: string;
  readonly author: PersonView;
  /** As the bot sees it: mentions are `<@id>`. */
  readonly text: string;
  /** Who is pinged, by id. */
  readonly mentions: readonly string[];
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly editedAt?: string;
  /** The id of the message answered. */
  readonly replyTo?: string;
  readonly nonce?: string | number;
  readonly isEphemeral: boolean;
  /** Buttons and selects; no rows where there are none. */
  readonly components: ComponentsView;
  readonly isPinned: boolean;
  /** What made the message where nobody wrote it. */
  readonly system?: 'pinned' | 'poll result' | 'thread created' | 'thread started';
  readonly attachments: readonly AttachmentView[];
  readonly poll?: PollView;
  /** Emoji with the names of those who reacted with it. */
  readonly reactions: Readonly<Record<string, readonly string[]>>;
}

interface AttachmentView {
  readonly id: string;
  readonly name: string;
  readonly bytes: number;
  readonly contentType?: string;
  /** The alternative text. */
  readonly description?: string;
}

export interface InteractionView {
  readonly id: string;
  /** `failed`: nothing came within three seconds. */
  readonly state: 'waiting' | 'deferred' | 'answered' | 'failed';
  readonly isEphemeral: boolean;
  /**
   * The first answer, or the message of the button that was clicked where the bot changes that instead: as it is now, absent
   * where it was deleted.
   */
  readonly answer?: MessageView;
  readonly followUps: readonly MessageView[];
}

const systemKinds: Partial<Record<MessageType, NonNullable<MessageView['system']>>> = {
  [MessageType.ChannelPinnedMessage]: 'pinned',
  [MessageType.PollResult]: 'poll result',
  [MessageType.ThreadCreated]: 'thread created',
  [MessageType.ThreadStarterMessage]: 'thread started',
};

export function messageView(world: World, message: Message): MessageView {
  return {
    id: message.id,
    channelId: message.channelId,
    author: personView(userOf(world, message.authorId)),
    text: message.text,
    mentions: [...message.mentionedIds],
    at: message.createdAt,
    ...(message.editedAt === null ? {} : { editedAt: message.editedAt }),
    ...(message.replyTo === undefined ? {} : { replyTo: message.replyTo.messageId }),
    ...(message.nonce === undefined ? {} : { nonce: message.nonce }),
    isEphemeral: isEphemeral(message),
    components: componentsView(message.components),
    isPinned: message.pinnedAt !== null,
    ...(systemKinds[message.type] === undefined ? {} : { system: systemKinds[message.type] }),
    attachments: message.attachments.map(({ id, name, bytes, contentType, description }) => ({
      id,
      name,
      bytes: bytes.length,
      ...(contentType === undefined ? {} : { contentType }),
      ...(description === undefined ? {} : { description }),
    })),
    ...(message.poll === undefined ? {} : { poll: pollView(world, message.poll) }),
    reactions: Object.fromEntries(
      Array.from(message.reactions, ([emoji, users]) => [
        emoji,
        Array.from(users, (id) => userOf(world, id).username),
      ]),
    ),
  };
}

export function interactionView(world: World, interaction: Interaction): InteractionView {
  const { id, state, ephemeral, original, followUps } = interaction;
  return {
    id,
    state,
    isEphemeral: ephemeral,
    ...(original === undefined || !isThere(world, original) ? {} : { answer: messageView(world, original) }),
    followUps: followUps
      .filter((message) => isThere(world, message))
      .map((message) => messageView(world, message)),
  };
}

/** What people see below a message, row by row. */
export interface ComponentsView {
  readonly rows: readonly RowView[];
}

interface RowView {
  readonly buttons: readonly ButtonView[];
  /** A row has either buttons or one select. */
  readonly select?: SelectView;
}

interface ButtonView {
  /** A link has none. */
  readonly customId?: string;
  /** Empty where there is only an emoji. */
  readonly label: string;
  /** The sign itself, or the name of a guild's own emoji. */
  readonly emoji?: string;
  readonly disabled: boolean;
  readonly style: 'primary' | 'secondary' | 'success' | 'danger' | 'link';
}

interface SelectView {
  readonly customId: string;
  readonly placeholder: string;
  readonly options: readonly { readonly label: string; readonly value: string }[];
  readonly disabled: boolean;
}

const styles = {
  [ButtonStyle.Primary]: 'primary',
  [ButtonStyle.Secondary]: 'secondary',
  [ButtonStyle.Success]: 'success',
  [ButtonStyle.Danger]: 'danger',
  [ButtonStyle.Link]: 'link',
} as const;

export function componentsView(rows: readonly ComponentRow[]): ComponentsView {
  return { rows: rows.map(rowView) };
}

function rowView({ components }: ComponentRow): RowView {
  const buttons = components.flatMap((component) =>
    component.type === ComponentType.Button ? [buttonView(component)] : [],
  );
  const select = components.find((component) => component.type === ComponentType.StringSelect);
  if (select === undefined) return { buttons };
  return {
    buttons,
    select: {
      customId: select.custom_id,
      placeholder: select.placeholder ?? '',
      options: select.options.map(({ label, value }) => ({ label, value })),
      disabled: select.disabled ?? false,
    },
  };
}

function buttonView(button: Button): ButtonView {
  return {
    ...('custom_id' in button ? { customId: button.custom_id } : {}),
    label: button.label ?? '',
    ...(button.emoji?.name === undefined ? {} : { emoji: button.emoji.name }),
    disabled: button.disabled ?? false,
    style: styles[button.style],
  };
}

interface PollView {
  readonly question: string;
  readonly answers: readonly {
    readonly text: string;
    readonly emoji?: string;
    /** The names of those who voted for it. */
    readonly votes: readonly string[];
  }[];
  readonly allowsSeveral: boolean;
  /** ISO 8601, UTC. */
  readonly expiresAt: string;
  readonly isOver: boolean;
}

function pollView(world: World, poll: Poll): PollView {
  return {
    question: poll.question,
    answers: poll.answers.map(({ id, text, emoji }) => ({
      text,
      ...(emoji === undefined ? {} : { emoji }),
      votes: Array.from(poll.votes.get(id) ?? [], (userId) => userOf(world, userId).username),
    })),
    allowsSeveral: poll.allowsSeveral,
    expiresAt: poll.expiresAt,
    isOver: isOver(poll, world.now()),
  };
}
