import { ButtonStyle, ComponentType, MessageType } from 'discord-api-types/v10';

import type { Button, ComponentRow, Interaction, Message, Modal, Poll } from '../world/entities.ts';
import { isThere } from '../world/messages.ts';
import { userOf, type World } from '../world/world.ts';
import { personView } from './control-views.ts';

export type MessageView = ReturnType<typeof messageView>;
export type InteractionView = ReturnType<typeof interactionView>;
/** What people see below a message, row by row; no rows where there is nothing. */
export type ComponentsView = ReturnType<typeof componentsView>;

/** What made a message where nobody wrote it. */
const systemKinds: Partial<Record<MessageType, string>> = {
  [MessageType.ChannelPinnedMessage]: 'pinned',
  [MessageType.ThreadCreated]: 'thread created',
  [MessageType.ThreadStarterMessage]: 'thread started',
};

export function messageView(world: World, message: Message) {
  return {
    id: message.id,
    channelId: message.channelId,
    author: personView(userOf(world, message.authorId)),
    /** As the bot sees it: mentions are `<@id>`. */
    text: message.text,
    /** Who is pinged, by id. */
    mentions: [...message.mentionedIds],
    /** ISO 8601, UTC. */
    at: message.createdAt,
    editedAt: message.editedAt ?? undefined,
    /** The id of the message answered. */
    replyTo: message.replyTo?.messageId,
    nonce: message.nonce,
    isEphemeral: message.viewerId !== undefined,
    components: componentsView(message.components),
    isPinned: message.pinnedAt !== null,
    system: systemKinds[message.type],
    attachments: message.attachments.map(({ id, name, bytes, contentType, description }) => ({
      id,
      name,
      bytes: bytes.length,
      contentType,
      description,
    })),
    poll: message.poll && pollView(message.poll),
    /** Emoji with the names of those who reacted with it. */
    reactions: Object.fromEntries(
      Array.from(message.reactions, ([emoji, users]) => [
        emoji,
        Array.from(users, (id) => userOf(world, id).username),
      ]),
    ),
  };
}

export function interactionView(world: World, interaction: Interaction) {
  const { id, state, original, followUps, modal } = interaction;
  return {
    id,
    /** `failed`: nothing came within three seconds. */
    state,
    isEphemeral: modal !== undefined || original?.viewerId !== undefined,
    /** The first answer, or the clicked message that the bot changed instead, as it is now; absent once deleted. */
    answer: original && isThere(world, original) ? messageView(world, original) : undefined,
    followUps: followUps
      .filter((message) => isThere(world, message))
      .map((message) => messageView(world, message)),
    /** The window that it was answered with, for `submit`. */
    modal: modal && modalView(modal),
  };
}

export type ModalView = ReturnType<typeof modalView>;

/** A window with fields, as the person sees it. */
export function modalView({ title, fields }: Modal) {
  return {
    title,
    fields: fields.map(({ customId, label, value, style, minLength, maxLength, isRequired }) => ({
      customId,
      label,
      /** What stands in it when it opens. */
      value,
      style,
      minLength,
      maxLength,
      isRequired,
    })),
  };
}

const styles = {
  [ButtonStyle.Primary]: 'primary',
  [ButtonStyle.Secondary]: 'secondary',
  [ButtonStyle.Success]: 'success',
  [ButtonStyle.Danger]: 'danger',
  [ButtonStyle.Link]: 'link',
} as const;

export function componentsView(rows: readonly ComponentRow[]) {
  return { rows: rows.map(rowView) };
}

/** Either buttons or one select. */
function rowView({ components }: ComponentRow) {
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

function buttonView(button: Button) {
  return {
    /** A link has none. */
    customId: 'custom_id' in button ? button.custom_id : undefined,
    /** Of a link. */
    url: 'url' in button ? button.url : undefined,
    /** Empty where there is only an emoji. */
    label: button.label ?? '',
    /** The sign itself, or the name of a guild's own emoji. */
    emoji: button.emoji?.name,
    disabled: button.disabled ?? false,
    style: styles[button.style],
  };
}

function pollView({ question, answers, allowsSeveral, expiresAt }: Poll) {
  return {
    question,
    answers: answers.map(({ text, emoji }) => ({ text, emoji })),
    allowsSeveral,
    /** ISO 8601, UTC. */
    expiresAt,
  };
}
