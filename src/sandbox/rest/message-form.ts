import { PollLayoutType, type APIEmbed } from 'discord-api-types/v10';
import { z } from 'zod';

import { contentTypeOf, maxFileBytes, maxFiles } from '../world/attachments.ts';
import type { Attachment, ComponentRow, Poll } from '../world/entities.ts';
import type { AllowedMentions } from '../world/mentions.ts';
import { knownEmoji } from '../world/reactions-and-polls.ts';
import { apiErrors, parseForm } from './api-error.ts';
import { componentRows, componentRowsSchema } from './component-form.ts';

const emojiSchema = z.object({
  name: z.string().refine((name) => knownEmoji(name) !== undefined, 'Invalid emoji'),
});

/** A poll as the bot hands it in, with the limits of Discord. */
const pollSchema = z.object({
  question: z.object({ text: z.string().min(1).max(300) }),
  answers: z
    .array(
      z.object({
        poll_media: z.object({ text: z.string().min(1).max(55), emoji: emojiSchema.nullish() }),
      }),
    )
    .min(1)
    .max(10),
  /** Hours. */
  duration: z.int().min(1).max(768).default(24),
  allow_multiselect: z.boolean().default(false),
  layout_type: z.literal(PollLayoutType.Default).optional(),
});

type PollForm = z.infer<typeof pollSchema>;

/** Discord's limit for a message, counted in UTF-16 units: the strictest reading of "characters". */
const maxMessageLength = 2_000;

const formSchema = z.object({
  content: z.string().nullish(),
  nonce: z.union([z.string(), z.int()]).nullish(),
  enforce_nonce: z.boolean().optional(),
  embeds: z.array(z.custom<APIEmbed>((value) => typeof value === 'object' && value !== null)).nullish(),
  components: componentRowsSchema.nullish(),
  flags: z.int().nullish(),
  allowed_mentions: z
    .object({
      parse: z.array(z.enum(['users', 'roles', 'everyone'])).optional(),
      users: z.array(z.string()).max(100).optional(),
      roles: z.array(z.string()).max(100).optional(),
      replied_user: z.boolean().optional(),
    })
    .nullish(),
  attachments: z
    .array(
      z.object({
        id: z.union([z.string(), z.int()]).transform(String),
        description: z.string().max(1_024).nullish(),
      }),
    )
    .nullish(),
  poll: pollSchema.nullish(),
  message_reference: z
    .object({
      message_id: z.string(),
      channel_id: z.string().optional(),
      fail_if_not_exists: z.boolean().optional(),
    })
    .nullish(),
});

/** A message as the bot hands it in, checked. */
export interface MessageForm {
  /** Trimmed as Discord does; `undefined` where the form says nothing of it. */
  readonly text: string | undefined;
  readonly nonce: string | number | undefined;
  readonly enforceNonce: boolean;
  readonly embeds: readonly APIEmbed[] | undefined;
  readonly components: readonly ComponentRow[] | undefined;
  readonly poll: PollForm | undefined;
  readonly flags: number | undefined;
  readonly allowedMentions: AllowedMentions | undefined;
  readonly reference: z.infer<typeof formSchema>['message_reference'];
  readonly files: readonly Omit<Attachment, 'id'>[];
  /** Which attachments an edited message is to keep; `undefined` for all. */
  readonly keptAttachmentIds: ReadonlySet<string> | undefined;
}

/** Reads a message from a JSON body or an upload. @throws {ApiError} 50035 for what Discord would not take. */
export function parseMessageForm(body: unknown): MessageForm {
  const form = parseForm(formSchema, body instanceof Upload ? body.payload : body);
  const text = form.content === null ? '' : form.content?.trim();
  if (text !== undefined && text.length > maxMessageLength) {
    throw apiErrors.invalidField(
      ['content'],
      'BASE_TYPE_MAX_LENGTH',
      `Must be ${maxMessageLength} or fewer in length.`,
    );
  }
  if (typeof form.nonce === 'string' && form.nonce.length > 25) {
    throw apiErrors.invalidField(
      ['nonce'],
      'NONCE_TYPE_TOO_LONG',
      'Nonce may not be longer than 25 characters.',
    );
  }
  return {
    text,
    nonce: form.nonce ?? undefined,
    enforceNonce: form.enforce_nonce ?? false,
    embeds: form.embeds ?? undefined,
    components: form.components === undefined ? undefined : componentRows(form.components ?? []),
    poll: form.poll ?? undefined,
    flags: form.flags ?? undefined,
    allowedMentions: form.allowed_mentions ?? undefined,
    reference: form.message_reference,
    files: described(body instanceof Upload ? body.files : [], form.attachments ?? []),
    keptAttachmentIds:
      form.attachments === undefined ? undefined : new Set(form.attachments?.map(({ id }) => id)),
  };
}

/** The files with what the JSON part says of them. */
function described(
  files: readonly UploadedFile[],
  said: readonly { readonly id: string; readonly description?: string | null | undefined }[],
): readonly Omit<Attachment, 'id'>[] {
  if (files.length > maxFiles) {
    throw apiErrors.invalidField(
      ['attachments'],
      'BASE_TYPE_MAX_LENGTH',
      `Must be ${maxFiles} or fewer in length.`,
    );
  }
  if (files.some(({ bytes }) => bytes.length > maxFileBytes)) throw apiErrors.tooLarge();
  return files.map(({ number, ...file }) => ({
    ...file,
    description: said.find(({ id }) => id === number)?.description ?? undefined,
  }));
}

/** @throws {ApiError} 50006 for a message with nothing in it. */
export function requireContent(form: MessageForm): void {
  const hasMore = (form.embeds ?? []).length > 0 || form.files.length > 0 || form.poll !== undefined;
  if ((form.text ?? '') === '' && !hasMore) throw apiErrors.emptyMessage();
}

/** The poll that begins now. */
export function newPoll(form: PollForm, now: Date): Poll {
  return {
    question: form.question.text,
    answers: form.answers.map(({ poll_media: { text, emoji } }, index) => ({
      id: index + 1,
      text,
      ...(emoji === null || emoji === undefined ? {} : { emoji: emoji.name }),
    })),
    allowsSeveral: form.allow_multiselect,
    expiresAt: new Date(now.getTime() + form.duration * 3_600_000).toISOString(),
    closed: false,
    votes: new Map(),
  };
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

/** Reads `payload_json` and `files[n]`. @throws {ApiError} for a body that is neither. */
export async function parseUpload(body: Buffer, contentType: string): Promise<Upload> {
  try {
    const form = await new Response(new Uint8Array(body), {
      headers: { 'content-type': contentType },
    }).formData();
    const json = form.get('payload_json');
    const payload: unknown = typeof json === 'string' ? JSON.parse(json) : {};
    const files = await Promise.all(
      [...form.entries()].flatMap(([part, value]) =>
        typeof value === 'string' ? [] : [readFile(part, value)],
      ),
    );
    return new Upload(payload, files);
  } catch (error) {
    throw Object.assign(apiErrors.invalidJson(), { cause: error });
  }
}

async function readFile(part: string, file: File): Promise<UploadedFile> {
  return {
    number: /^files\[(\d+)\]$/.exec(part)?.[1],
    name: file.name,
    contentType: contentTypeOf(file.name) ?? (file.type === '' ? undefined : file.type),
    bytes: Buffer.from(await file.arrayBuffer()),
  };
}
