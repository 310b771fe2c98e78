import {
  PermissionFlagsBits,
  PollLayoutType,
  type APIPoll,
  type RESTAPIPoll,
  type RESTPostAPIChannelMessageJSONBody,
} from 'discord-api-types/v10';

import { contentTypeOf, maxFileBytes } from '../world/attachments.ts';
import type {
  Attachment,
  Channel,
  ComponentRow,
  DmChannel,
  Message,
  MessageReference,
} from '../world/entities.ts';
import { mentionsIn } from '../world/mentions.ts';
import { createMessage, findMessage, type NewMessage } from '../world/messages.ts';
import { canSend, isLockedFor, may } from '../world/permissions.ts';
import { userOf, type World } from '../world/world.ts';
import { apiErrors } from './api-error.ts';
import { bodyAs } from './rest-context.ts';

/** A message as the bot hands it in, with its files; `undefined` and `null` say nothing of a field. */
export interface MessageForm extends Nullable<Omit<RESTPostAPIChannelMessageJSONBody, 'components'>> {
  readonly components?: ComponentRow[] | null;
  readonly files: readonly Omit<Attachment, 'id'>[];
}

type Nullable<T> = { [Key in keyof T]: T[Key] | null };

/** Reads a message from a JSON body or an upload, as it is: whether Discord would take it, the bot's own tests tell. */
export function readMessageForm(body: unknown): MessageForm {
  const upload = body instanceof Upload ? body : new Upload(body, []);
  const form = bodyAs<Omit<MessageForm, 'files'>>(upload.payload ?? {});
  if (upload.files.some(({ bytes }) => bytes.length > maxFileBytes)) throw apiErrors.tooLarge();
  const files = upload.files.map(({ number, ...file }) => ({
    ...file,
    description: form.attachments?.find(({ id }) => String(id) === number)?.description ?? undefined,
  }));
  return { ...form, content: form.content?.trim(), files };
}

/** @throws {ApiError} 50006 for a message with nothing in it. */
export function requireContent({ content, embeds, files, poll }: MessageForm): void {
  if (!content && (embeds ?? []).length === 0 && files.length === 0 && !poll) throw apiErrors.emptyMessage();
}

/** Discord looks for an equal nonce among the messages "of the past few minutes", in milliseconds. */
const nonceWindow = 5 * 60_000;

/**
 * Posts a message as the bot. With `enforce_nonce` and a nonce that the bot used within the last minutes, nothing is
 * posted: that message is the answer, or 10008 where it was deleted since.
 * @throws {ApiError} 10008, 50013, 50007, 50278, 50083, 50006, 160002 or 50035.
 */
export function postMessage(world: World, channel: Channel, form: MessageForm): Message {
  requireRightToSend(world, channel, form);
  requireContent(form);
  const earlier = form.enforce_nonce === true ? findByNonce(world, form.nonce) : undefined;
  if (earlier !== undefined) return earlier;

  const replyTo = resolveReference(world, channel, form);
  const message = createMessage(world, {
    ...contentOf(world, form, repliedUser(world, replyTo)),
    channel,
    authorId: world.botId,
    nonce: form.nonce ?? undefined,
    replyTo,
  });
  if (message.nonce !== undefined) world.nonces.set(String(message.nonce), message);
  return message;
}

/** Who wrote what a message answers, as long as that is there. */
export function repliedUser(world: World, replyTo: MessageReference | undefined): string | undefined {
  return replyTo && findMessage(world, replyTo.channelId, replyTo.messageId)?.authorId;
}

/** What a form puts into a message; `repliedUserId` wrote what it answers. */
export function contentOf(
  world: World,
  form: MessageForm,
  repliedUserId: string | undefined,
): Omit<NewMessage, 'channel' | 'authorId'> {
  return {
    text: form.content ?? '',
    mentions: mentionsIn(form.content ?? '', form.allowed_mentions ?? undefined, repliedUserId),
    attachments: form.files.map((file) => ({ ...file, id: world.nextId() })),
    embeds: form.embeds ?? [],
    components: numbered(form.components ?? []),
    poll: form.poll ? newPoll(form.poll, world.now()) : undefined,
    flags: form.flags ?? 0,
  };
}

/** What a form changes of a message; its attachments are those that it keeps and the new files. */
export function changeBy(
  world: World,
  message: Message,
  form: MessageForm,
  repliedUserId: string | undefined,
) {
  const { content: text, embeds, components, allowed_mentions: allowed, attachments } = form;
  const keptIds = attachments?.map(({ id }) => String(id));
  const kept = message.attachments.filter(({ id }) => keptIds?.includes(id) ?? true);
  return {
    text: text ?? undefined,
    embeds: embeds ?? undefined,
    components: components ? numbered(components) : undefined,
    attachments: [...kept, ...form.files.map((file) => ({ ...file, id: world.nextId() }))],
    mentions: text == null ? undefined : mentionsIn(text, allowed ?? undefined, repliedUserId),
  };
}

/** The rows as a message keeps them: each component has a number, as with Discord. */
function numbered(rows: readonly ComponentRow[]): ComponentRow[] {
  let id = 0;
  return rows.map((row) => ({
    ...row,
    id: ++id,
    components: row.components.map((component) => ({ ...component, id: ++id })),
  }));
}

/** The poll that begins now. */
function newPoll({ duration = 24, allow_multiselect = false, ...form }: RESTAPIPoll, now: Date): APIPoll {
  return {
    question: form.question,
    answers: form.answers.map(({ poll_media }, index) => ({ answer_id: index + 1, poll_media })),
    expiry: new Date(now.getTime() + duration * 3_600_000).toISOString(),
    allow_multiselect,
    layout_type: PollLayoutType.Default,
    results: { is_finalized: false, answer_counts: [] },
  };
}

function requireRightToSend(world: World, channel: Channel, form: MessageForm): void {
  if (channel.kind === 'dm') {
    requireDmAccepted(world, channel);
    return;
  }
  if (isLockedFor(world, channel, world.botId)) throw apiErrors.threadArchived(403);
  const needed =
    (form.files.length === 0 ? 0n : PermissionFlagsBits.AttachFiles) |
    (form.poll ? PermissionFlagsBits.SendPolls : 0n);
  if (!canSend(world, channel, world.botId) || !may(world, channel, world.botId, needed)) {
    throw apiErrors.missingPermissions();
  }
}

/** A bot may write to who shares a guild with it and has not closed their DMs. @throws {ApiError} 50278 or 50007. */
function requireDmAccepted(world: World, { personId }: DmChannel): void {
  const isShared = [...world.guilds.values()].some(({ members }) =>
    [personId, world.botId].every((id) => members.has(id)),
  );
  if (!isShared) throw apiErrors.noMutualGuild();
  if (userOf(world, personId).closedDms) throw apiErrors.cannotDm();
}

/** @throws {ApiError} 10008 where the message that had the nonce is deleted. */
function findByNonce(world: World, nonce: MessageForm['nonce']): Message | undefined {
  const had = world.nonces.get(String(nonce));
  if (had === undefined || Date.parse(had.createdAt) < world.now().getTime() - nonceWindow) return undefined;
  const message = findMessage(world, had.channelId, had.id);
  if (message === undefined) throw apiErrors.unknownMessage();
  return message;
}

function resolveReference(world: World, channel: Channel, form: MessageForm): MessageReference | undefined {
  const { message_id: messageId, fail_if_not_exists: mustExist } = form.message_reference ?? {};
  if (messageId === undefined) return undefined;
  if (!may(world, channel, world.botId, PermissionFlagsBits.ReadMessageHistory)) {
    throw apiErrors.replyForbidden();
  }
  if (findMessage(world, channel.id, messageId) !== undefined) return { channelId: channel.id, messageId };
  if (mustExist === false) return undefined;
  throw apiErrors.unknownReference();
}

/** A file of a multipart body. */
interface UploadedFile extends Omit<Attachment, 'id'> {
  /** The n of its part's name, `files[n]`, by which the JSON part speaks of it. */
  readonly number: string | undefined;
}

/** A multipart body: the JSON part and the files. */
export class Upload {
  readonly payload: unknown;
  readonly files: readonly UploadedFile[];
  constructor(payload: unknown, files: readonly UploadedFile[]) {
    this.payload = payload;
    this.files = files;
  }
}

/** Reads `payload_json` and `files[n]`. @throws {Error} for a body that is neither. */
export async function readUpload(body: Buffer, contentType: string): Promise<Upload> {
  const headers = { 'content-type': contentType };
  const form = await new Response(new Uint8Array(body), { headers }).formData();
  const json = form.get('payload_json');
  const files: UploadedFile[] = [];
  for (const [part, value] of form.entries()) {
    if (typeof value === 'string') continue;
    files.push({
      number: /^files\[(\d+)\]$/.exec(part)?.[1],
      name: value.name,
      contentType: contentTypeOf(value.name) ?? (value.type === '' ? undefined : value.type),
      bytes: Buffer.from(await value.arrayBuffer()),
    });
  }
  return new Upload(typeof json === 'string' ? JSON.parse(json) : {}, files);
}
