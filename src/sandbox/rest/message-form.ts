import { PollLayoutType, type APIEmbed } from 'discord-api-types/v10';
import { z } from 'zod';

import { contentTypeOf, maxFileBytes, maxFiles } from '../world/attachments.ts';
import type { Attachment, Poll } from '../world/entities.ts';
import { knownEmoji } from '../world/reactions.ts';
import { apiErrors, parseForm } from './api-error.ts';
import { componentRowsSchema } from './component-form.ts';

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

/** Without what `null` takes away. */
function emptied<Item>(items: Item[] | null | undefined): Item[] | undefined {
  return items === null ? [] : items;
}

const formSchema = z.object({
  /** Trimmed as Discord does; `undefined` where the form says nothing of it. */
  content: z
    .string()
    .trim()
    .max(maxMessageLength)
    .nullish()
    .transform((text) => (text === null ? '' : text)),
  nonce: z.union([z.string().max(25), z.int()]).nullish(),
  enforce_nonce: z.boolean().default(false),
  embeds: z
    .array(z.custom<APIEmbed>((value) => typeof value === 'object' && value !== null))
    .nullish()
    .transform(emptied),
  components: componentRowsSchema.nullish().transform(emptied),
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
    .nullish()
    .transform(emptied),
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
export interface MessageForm extends z.output<typeof formSchema> {
  readonly files: readonly Omit<Attachment, 'id'>[];
}

/** Reads a message from a JSON body or an upload. @throws {ApiError} 50035 for what Discord would not take. */
export function parseMessageForm(body: unknown): MessageForm {
  const form = parseForm(formSchema, body instanceof Upload ? body.payload : body);
  return { ...form, files: described(body instanceof Upload ? body.files : [], form.attachments ?? []) };
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
export function requireContent({ content, embeds, files, poll }: MessageForm): void {
  if (!content && (embeds ?? []).length === 0 && files.length === 0 && !poll) throw apiErrors.emptyMessage();
}

/** The poll that begins now. */
export function newPoll(form: PollForm, now: Date): Poll {
  return {
    question: form.question.text,
    answers: form.answers.map(({ poll_media: { text, emoji } }, index) => ({
      id: index + 1,
      text,
      emoji: emoji?.name,
    })),
    allowsSeveral: form.allow_multiselect,
    expiresAt: new Date(now.getTime() + form.duration * 3_600_000).toISOString(),
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
