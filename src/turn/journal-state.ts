import { z } from 'zod';

import { limits } from '../core/limits.ts';
import { placeSchema } from '../core/place.ts';
import type { LogState } from '../core/store.ts';

const question = {
  messageIds: z.array(z.string()).min(1),
  userId: z.string(),
  speakerName: z.string(),
  isBot: z.literal(true).exactOptional(),
  place: placeSchema,
};

const buttonSchema = z.object({
  label: z.string(),
  line: z.string().optional(),
  isDanger: z.literal(true).optional(),
  takes: z.enum(['all', 'itself', 'nothing', 'answer']).optional(),
  opensForm: z.literal(true).optional(),
});

const preparedSchema = z.object({
  kind: z.literal('prepared'),
  ...question,
  /** The answer to a command; not part of history [F2]. */
  isCommand: z.literal(true).exactOptional(),
  text: z.string(),
  footer: z
    .object({ lines: z.array(z.string()).readonly(), buttons: z.array(buttonSchema).readonly() })
    .optional(),
  /** As the log is to have it; absent for a command's answer. */
  hasThirdPartyText: z.boolean().exactOptional(),
  thirdPartyTextAt: z.string().exactOptional(),
  retells: z.literal(true).exactOptional(),
});

const begunSchema = z.object({
  kind: z.literal('begun'),
  ...question,
  /** The reply's messages, in order. */
  replyIds: z.array(z.string()),
});

export const recordSchema = z.discriminatedUnion('kind', [
  preparedSchema,
  begunSchema,
  z.object({ kind: z.literal('handled'), messageIds: z.array(z.string()) }),
  z.object({ kind: z.literal('hidden'), messageIds: z.array(z.string()) }),
  z.object({ kind: z.literal('unhidden'), messageIds: z.array(z.string()) }),
  z.object({ kind: z.literal('gone') }),
  /** Something was withdrawn while answers were on their way: their texts leave the file once sent [G5]. */
  z.object({ kind: z.literal('erasing') }),
]);
export type JournalRecord = z.infer<typeof recordSchema>;

/** An answer that is ready but not confirmed as sent. */
export type PreparedReply = Omit<z.infer<typeof preparedSchema>, 'kind'>;

/** An answer that people saw begin, not confirmed as whole. */
export type BegunReply = Omit<z.infer<typeof begunSchema>, 'kind'>;

export type JournalState = ReturnType<typeof newJournalState>;

export function newJournalState(seen: LogState) {
  return {
    /** How far the log was read, or written by this process with nothing in between. */
    seen,
    handled: new Set<string>(),
    hidden: new Set<string>(),
    prepared: new Map<string, PreparedReply>(),
    /** By the newest message answered, to which the reply points. */
    begun: new Map<string, BegunReply>(),
    isGone: false,
    /** Records in the file, and those with an answer's text. */
    records: 0,
    texts: 0,
    /** The file keeps no text of an answer once it was sent. */
    erasesTexts: false,
  };
}

export function countRecord(state: JournalState, { kind }: JournalRecord): void {
  state.records += 1;
  if (kind === 'prepared') state.texts += 1;
}

export function applyRecord(state: JournalState, record: JournalRecord): void {
  switch (record.kind) {
    case 'prepared': {
      const { kind: _, ...reply } = record;
      state.prepared.set(replyKey(record.messageIds), reply);
      return;
    }
    case 'begun': {
      const { kind: _, ...reply } = record;
      // It continues what stood there for any of its messages.
      for (const id of record.messageIds) state.begun.delete(id);
      state.begun.set(record.messageIds.at(-1) ?? '', reply);
      return;
    }
    case 'handled':
      // An unsent answer's messages may have got another one, together with others or alone.
      for (const [key, { messageIds }] of state.prepared) {
        if (messageIds.some((id) => record.messageIds.includes(id))) state.prepared.delete(key);
      }
      for (const id of record.messageIds) state.begun.delete(id);
      keepNewest(state.handled, record.messageIds);
      return;
    case 'hidden':
      keepNewest(state.hidden, record.messageIds);
      return;
    case 'unhidden':
      for (const id of record.messageIds) state.hidden.delete(id);
      return;
    case 'gone':
      state.isGone = true;
      return;
    case 'erasing':
      state.erasesTexts = true;
  }
}

/** A refused answer is dropped: it would be for the next process. */
export function takeBackPrepared(state: JournalState, record: JournalRecord): void {
  if (record.kind === 'prepared') state.prepared.delete(replyKey(record.messageIds));
}

/** Whether a record still says something; handled and hidden ids are kept elsewhere. */
export function stillStands(state: JournalState, record: JournalRecord): boolean {
  switch (record.kind) {
    case 'prepared':
      return state.prepared.has(replyKey(record.messageIds));
    case 'begun': {
      const present = state.begun.get(record.messageIds.at(-1) ?? '');
      return present !== undefined && replyKey(present.replyIds) === replyKey(record.replyIds);
    }
    case 'gone':
      return true;
    case 'erasing':
      return state.prepared.size > 0;
    case 'handled':
    case 'hidden':
    case 'unhidden':
      return false;
  }
}

function replyKey(messageIds: readonly string[]): string {
  return messageIds.join(' ');
}

function keepNewest(ids: Set<string>, added: readonly string[]): void {
  for (const id of added) ids.add(id);
  for (const id of ids) {
    if (ids.size <= limits.journalIds) return;
    ids.delete(id);
  }
}
