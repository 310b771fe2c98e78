import type { APIEmbed } from 'discord-api-types/v10';
import { z } from 'zod';

import { maxFileBytes, maxFiles } from '../world/attachments.ts';
import type { Attachment, ComponentRow } from '../world/entities.ts';
import { apiErrors, parseForm } from './api-error.ts';
import { componentRows, componentRowsSchema } from './component-form.ts';
import { pollSchema } from './poll-form.ts';
import type { PollForm } from './poll-form.ts';
import { Upload } from './upload.ts';
import type { UploadedFile } from './upload.ts';

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
  readonly allowedMentions: z.infer<typeof formSchema>['allowed_mentions'];
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
    allowedMentions: form.allowed_mentions,
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
