import { z } from 'zod';

import type { Work, Writes } from '../../core/writes.ts';
import { limits } from '../../core/limits.ts';
import { placeSchema, type Place, type SessionKey } from '../../core/place.ts';
import { isYounger } from '../../core/snowflake.ts';
import type { Store } from '../../core/store.ts';
import { sameItemForm, saysWords } from '../../core/text.ts';
import { audienceOf, isSameReach, narrower, reachOf } from '../../core/visibility.ts';
import { createExpiringLog, expiringFields, type ExpiringLogPorts } from '../expiring-log.ts';
import { personOf, type MemoryLayer } from '../layer.ts';
import { idsOf } from '../log/records.ts';
import type { CaptureMode } from '../settings/person-settings.ts';
import {
  durableDocumentKind,
  durableKey,
  emptyDurableDocument,
  itemKinds,
  readDurable,
  wordingOf,
  type DurableDocument,
  type DurableItem,
  type Utterance,
} from './document.ts';
import type { DurableMemory, RememberInput } from './durable-memory.ts';
import { askedIn } from './evidence.ts';
import { withTombstones } from './past.ts';
import { markOf, readWithheld } from '../withheld.ts';
import { toldDocument } from './told.ts';
import { isEnough, rememberItem, type RememberOutcome, type RememberRequest } from './remember-item.ts';

export const proposalsFile = 'proposals.jsonl';

/** How long a proposal waits for its person [K9]; milliseconds. */
export const proposalForMs = 7 * 24 * 60 * 60_000;

const proposalSchema = z.object({
  ...expiringFields,
  kind: z.enum(itemKinds).optional(),
  text: z.string(),
  question: z.string().optional(),
  place: placeSchema,
  messageId: z.string(),
  type: z.enum(['discord', 'summary']),
  heard: z.literal(true).optional(),
  replaces: z.string().optional(),
});

type Proposal = z.infer<typeof proposalSchema>;

/** What waits for its person, as the item that it would become. */
export interface ProposedItem {
  readonly id: string;
  readonly item: DurableItem;
}

export type ProposalOutcome =
  | RememberOutcome
  /** The person is asked first; `isKnown`: they have been already. */
  | { readonly outcome: 'proposed'; readonly proposed: ProposedItem; readonly isKnown: boolean };

export interface ProposalsOptions extends ExpiringLogPorts {
  readonly store: Pick<Store, 'append' | 'scan' | 'rewrite' | 'read' | 'update'>;
  readonly writes: Pick<Writes, 'run'>;
  readonly durable: Pick<DurableMemory, 'remember'>;
  /** Must not reject. */
  readonly modeOf: (userId: string) => Promise<CaptureMode>;
  /** What a message of a session says now; `undefined` where it is there no more. */
  readonly textOf: (session: SessionKey, messageId: string) => Promise<string | undefined>;
  /** Active items at most [D3]. */
  readonly maxItems: number;
}

export type Proposals = ReturnType<typeof createProposals>;

/**
 * Proposals for people who want to be asked first [K9]: `users/<userId>/proposals.jsonl`. Only a yes makes one an
 * item. It leaves the disk with a no, with its message, or after seven days.
 */
export function createProposals(options: ProposalsOptions) {
  const { store, writes, durable, modeOf, textOf, clock } = options;
  const log = createExpiringLog<Proposal>(options, {
    name: proposalsFile,
    schema: proposalSchema,
    ttlMs: proposalForMs,
    maxPerUser: limits.proposals,
  });

  const documentOf = async (userId: string): Promise<DurableDocument> =>
    toldDocument(await readDurable(store, userId), await readWithheld(store, userId)).document;

  /** Without what is withheld. */
  async function toldOf(userId: string): Promise<readonly Proposal[]> {
    const { hasItem } = await readWithheld(store, userId);
    return (await log.list(userId)).filter((each) => !hasItem(markOf(each)));
  }

  /** What would become of it now if there were room. */
  const tried = (document: DurableDocument, userId: string, proposal: Proposal) => {
    const { id: _, expiresAt: __, ...proposed } = proposal;
    const outcomeOf = (request: RememberRequest) =>
      rememberItem(document, userId, request, Infinity, clock()).result;
    const request = { ...proposed, isAccepted: true } as const;
    const outcome = outcomeOf(request);
    return lacksReplaced(outcome) ? outcomeOf(withoutReplacing(request)) : outcome;
  };

  async function propose(userId: string, input: RememberInput): Promise<ProposalOutcome> {
    const { stillStands, turnMessageId: _, isOfList: __, type, ...request } = input;
    if (type === 'manual') throw new RangeError('What a person stores themselves needs no proposal');
    if (stillStands !== undefined && !(await stillStands()))
      return { outcome: 'refused', reason: 'forgotten' };
    const would = rememberItem(await documentOf(userId), userId, input, options.maxItems, clock()).result;
    // What is known already is only confirmed.
    if (would.outcome === 'refused' || would.outcome === 'refreshed') return would;
    const form = sameItemForm(wordingOf(input));
    const all = await toldOf(userId);
    const waiting = all.find((each) => sameItemForm(wordingOf(each)) === form);
    if (waiting === undefined && isEnough(all, input)) return { outcome: 'refused', reason: 'enough' };
    const { id } = waiting ?? (await log.add({ ...request, type, userId }));
    return { outcome: 'proposed', proposed: { id, item: would.item }, isKnown: waiting !== undefined };
  }

  async function find(userId: string, id: string): Promise<Proposal | undefined> {
    return (await toldOf(userId)).find((proposal) => proposal.id === id.trim().toLowerCase());
  }

  /** The person says no. Runs within a job of the person's queue. */
  async function noticeNoMore(userId: string, proposal: Proposal): Promise<void> {
    const would = tried(await documentOf(userId), userId, proposal);
    if (would.outcome === 'stored' || would.outcome === 'revived')
      await store.update(durableKey(userId), durableDocumentKind, (before = emptyDurableDocument) =>
        withTombstones(before, [would.item]),
      );
  }

  const layer: MemoryLayer = {
    name: 'proposals',
    sections: () => Promise.resolve([]),
    async delete(deletion) {
      const userId = personOf(deletion);
      switch (deletion.kind) {
        case 'messages': {
          const { session, messages } = deletion;
          const gone = new Set(messages.flatMap(({ before }) => idsOf(before)));
          const isAsked = askedIn(messages);
          return log.delete(
            userId,
            ({ messageId, place, question }) =>
              gone.has(messageId) || (place.channelId === session.channelId && isAsked(question)),
          );
        }
        case 'words':
          return log.delete(userId, (each) => saysAnyOf(each, deletion));
        case 'record':
          return log.delete(userId, (each) => deletion.record.items.includes(markOf(each)));
        case 'conversations': {
          const channels = new Set(deletion.sessions.map(({ channelId }) => channelId));
          return log.delete(userId, ({ place }) => channels.has(place.channelId));
        }
        case 'person':
          return log.delete(userId);
      }
    },
    async *export(userId) {
      const waiting = await toldOf(userId);
      if (waiting.length > 0) yield { path: 'proposals.json', text: JSON.stringify(waiting, undefined, 2) };
    },
  };

  return {
    layer,
    expire: log.expire,
    /** The marks of those that say some words, or came from some messages [K4]. */
    async marksOf(forgotten: {
      readonly userId: string;
      readonly words: string;
      readonly commandId: string;
      readonly messageIds: readonly string[];
    }): Promise<readonly string[]> {
      const isMeant = (each: Proposal): boolean =>
        forgotten.messageIds.includes(each.messageId) || saysAnyOf(each, forgotten);
      return (await log.list(forgotten.userId)).filter(isMeant).map(markOf);
    },
    /**
     * As `DurableMemory.remember`, for what the bot notices: in `ask`, now or when it was said, and of what was heard
     * [G7], the person is asked first.
     */
    async remember(
      work: Work,
      input: RememberInput,
      originalMode: CaptureMode = 'auto',
    ): Promise<ProposalOutcome> {
      const mode = await modeOf(work.userId);
      if (mode === 'off') return { outcome: 'refused', reason: 'forgotten' };
      return mode === 'ask' || originalMode === 'ask' || input.heard === true
        ? writes.run(work, () => propose(work.userId, input))
        : durable.remember(work, input);
    },
    /** What waits for a person and can still become an item, oldest first. */
    async list(userId: string): Promise<readonly ProposedItem[]> {
      const document = await documentOf(userId);
      return (await toldOf(userId)).flatMap((proposal) => {
        const would = tried(document, userId, proposal);
        return would.outcome === 'refused' ? [] : [{ id: proposal.id, item: would.item }];
      });
    },
    /**
     * The person says yes: stores the proposal, or their own wording of it, which gets no wider and is not proposed
     * again. `undefined` if the proposal is gone. It goes on waiting if it could still be stored later or in other
     * words.
     */
    async accept(work: Work, id: string, reworded?: Utterance): Promise<RememberOutcome | undefined> {
      const { userId } = work;
      const proposal = await find(userId, id);
      if (proposal === undefined) return undefined;
      const { id: _, expiresAt: __, ...proposed } = proposal;
      const session = { channelId: proposal.place.channelId, userId };
      const stillStands = async () => (await textOf(session, proposal.messageId)) !== undefined;
      const request: RememberInput =
        reworded === undefined
          ? { ...proposed, isAccepted: true, stillStands }
          : {
              ...proposed,
              ...inNarrower(proposed, reworded),
              question: undefined,
              heard: undefined,
              type: 'manual',
              isAccepted: true,
            };
      let outcome = await durable.remember(work, request);
      if (lacksReplaced(outcome)) outcome = await durable.remember(work, withoutReplacing(request));
      if (outcome.outcome !== 'refused' || outcome.reason === 'forgotten') {
        if (reworded !== undefined) await writes.run(work, () => noticeNoMore(userId, proposal));
        await log.delete(userId, ({ id: each }) => each === proposal.id);
      }
      return outcome;
    },
    /** The person says no: it leaves the disk, and is not noticed again. Resolves with whether there was one. */
    async decline(work: Work, id: string): Promise<boolean> {
      const { userId } = work;
      return writes.run(work, async () => {
        const proposal = await find(userId, id);
        if (proposal === undefined) return false;
        await noticeNoMore(userId, proposal);
        await log.delete(userId, ({ id: each }) => each === proposal.id);
        return true;
      });
    },
  };
}

/** Whether it says some words that were meant by a command after it. */
function saysAnyOf(
  proposal: Proposal,
  { words, commandId }: { readonly words: string; readonly commandId: string },
): boolean {
  return words !== '' && saysWords(wordingOf(proposal), words) && !isYounger(proposal.messageId, commandId);
}

/** What an item was to replace may be gone by the time of a yes: then it stands for itself. */
function withoutReplacing<Request extends RememberRequest>(request: Request) {
  return { ...request, replaces: undefined };
}

function lacksReplaced(outcome: RememberOutcome): boolean {
  return outcome.outcome === 'refused' && outcome.reason === 'unknown-id';
}

/** The person's words for a proposal, usable only where both may be [V1]. */
function inNarrower(
  { place, messageId }: Pick<RememberRequest, 'place' | 'messageId'>,
  reworded: Utterance,
): Utterance {
  const both = narrower(reachOf(place), reachOf(reworded.place));
  if (isSameReach(both, reachOf(reworded.place))) return reworded;
  const narrow: Place = { ...place, audience: audienceOf(both.visibility), readers: both.readers };
  return { text: reworded.text, messageId, place: isSameReach(both, reachOf(place)) ? place : narrow };
}
