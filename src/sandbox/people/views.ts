import { ButtonStyle, ComponentType, MessageType, TextInputStyle } from 'discord-api-types/v10';

import type { Button, Channel, ComponentRow, Interaction, Message, Modal, User } from '../world/entities.ts';
import { isThere } from '../world/messages.ts';
import { canView } from '../world/permissions.ts';
import { guildIdOf, userOf, type World } from '../world/world.ts';

// What people see, as it is at the moment.

export type PersonView = ReturnType<typeof personView>;
export type ChannelView = ReturnType<typeof channelView>;
export type MessageView = ReturnType<typeof messageView>;
export type InteractionView = ReturnType<typeof interactionView>;

export function personView(user: User) {
  return { id: user.id, name: user.username, isBot: user.bot };
}

export function channelView(world: World, channel: Channel) {
  return {
    id: channel.id,
    kind: channel.kind,
    /** A DM has the person's name. */
    name: channel.kind === 'dm' ? userOf(world, channel.personId).username : channel.name,
    guildId: guildIdOf(channel),
    /** Of a thread. */
    parentId: channel.kind === 'thread' ? channel.parentId : undefined,
    /** The names of all who can view it, bots included. */
    seenBy: [...world.users.values()]
      .filter((user) => canView(world, channel, user.id))
      .map(({ username }) => username),
  };
}

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
    poll: message.poll,
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
    /** The window that it was answered with. */
    modal: modal && modalView(modal),
  };
}

/** A window with fields, as the person sees it. */
function modalView({ title, components }: Modal) {
  return {
    title,
    fields: components.map(({ label, component }) => ({
      customId: component.custom_id,
      label,
      /** What stands in it when it opens. */
      value: component.value ?? '',
      style: component.style === TextInputStyle.Short ? ('short' as const) : ('paragraph' as const),
      minLength: component.min_length ?? 0,
      maxLength: component.max_length ?? 4000,
      isRequired: component.required ?? true,
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

/** What people see below a message, row by row, each either buttons or one select. */
export function componentsView(rows: readonly ComponentRow[]) {
  return {
    rows: rows.map(({ components }) => {
      const buttons = components.filter((component) => component.type === ComponentType.Button);
      const select = components.find((component) => component.type === ComponentType.StringSelect);
      return {
        buttons: buttons.map(buttonView),
        select: select && {
          customId: select.custom_id,
          placeholder: select.placeholder ?? '',
          options: select.options.map(({ label, value }) => ({ label, value })),
          disabled: select.disabled ?? false,
        },
      };
    }),
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
