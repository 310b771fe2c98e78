import type { Work } from '../../core/writes.ts';
import type { Place, SessionKey } from '../../core/place.ts';
import { audienceOf, isSameReach, narrower, reachOf } from '../../core/visibility.ts';
import type { CaptureMode } from '../settings/person-settings.ts';
import { placeOfSource, type DurableItem, type Utterance } from './document.ts';
import type { DurableMemory } from './durable-memory.ts';
import type { ProposalOutcome, RememberOutcome, RememberRequest } from './remember-item.ts';

export interface ProposalsOptions {
  readonly durable: Pick<DurableMemory, 'remember' | 'propose' | 'proposed' | 'decline'>;
  /** Must not reject. */
  readonly modeOf: (userId: string) => Promise<CaptureMode>;
  /** What a message of a session says now; `undefined` where it is there no more. */
  readonly textOf: (session: SessionKey, messageId: string) => Promise<string | undefined>;
}

export type Proposals = ReturnType<typeof createProposals>;

/**
 * What is noticed, by the mode of its person [K9]: one who wants to be asked first has proposals, items that nobody
 * uses before a yes. They leave the disk with a no, with their message, or after seven days.
 */
export function createProposals({ durable, modeOf, textOf }: ProposalsOptions) {
  return {
    /**
     * As `DurableMemory.remember`, for what the bot notices: in `ask`, now or when it was said, and of what was heard
     * [G7], the person is asked first.
     */
    async remember(
      work: Work,
      input: RememberRequest,
      originalMode: CaptureMode = 'auto',
    ): Promise<ProposalOutcome> {
      const mode = await modeOf(work.userId);
      if (mode === 'off') return { outcome: 'refused', reason: 'forgotten' };
      return mode === 'ask' || originalMode === 'ask' || input.heard === true
        ? durable.propose(work, input)
        : durable.remember(work, input);
    },
    /** What waits for a person, oldest first. */
    list: durable.proposed,
    /**
     * The person says yes: stores the proposal, or their own wording of it, which gets no wider and is not proposed
     * again. `undefined` if the proposal is gone. It goes on waiting where it is refused: it could be stored later, or
     * in other words.
     */
    async accept(work: Work, id: string, reworded?: Utterance): Promise<RememberOutcome | undefined> {
      const { userId } = work;
      const accepts = id.trim().toLowerCase();
      const proposal = (await durable.proposed(userId)).find((each) => each.id === accepts);
      if (proposal === undefined) return undefined;
      const request = { ...requestOf(proposal), accepts };
      const session = { channelId: request.place.channelId, userId };
      const stillStands = async () => (await textOf(session, request.messageId)) !== undefined;
      const input: RememberRequest =
        reworded === undefined
          ? // What another assistant proposed stands in no message.
            { ...request, stillStands: request.type === 'elsewhere' ? undefined : stillStands }
          : {
              ...request,
              ...inNarrower(request, reworded),
              question: undefined,
              heard: undefined,
              assistant: undefined,
              type: 'manual',
            };
      const outcome = await durable.remember(work, input);
      // What it was to replace may be gone by now: then it stands for itself.
      const isAlone = outcome.outcome === 'refused' && outcome.reason === 'unknown-id';
      return isAlone ? durable.remember(work, { ...input, replaces: undefined }) : outcome;
    },
    /** The person says no: it leaves the disk, and is not noticed again. Resolves with whether there was one. */
    decline: durable.decline,
  };
}

/** What was noticed, as it was. */
function requestOf({ kind, text, question, source, replaces }: DurableItem): RememberRequest {
  const { messageId, type, heard, assistant } = source;
  return { kind, text, question, place: placeOfSource(source), messageId, type, heard, assistant, replaces };
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
