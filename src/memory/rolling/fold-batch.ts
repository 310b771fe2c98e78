import type { Clock } from '../../core/time.ts';
import type { Place, SessionKey } from '../../core/place.ts';
import { mayUse, narrower } from '../../core/visibility.ts';
import type { Visibility } from '../../core/visibility.ts';
import type { SequencedMessage } from '../log/records.ts';
import type { StoredSummary } from '../log/session-state.ts';
import { writeSummary } from './write-summary.ts';
import type { SummaryWriter } from './write-summary.ts';

interface Origin {
  readonly visibility: Visibility;
  readonly homeId: string;
}

/**
 * The summary with messages folded in. What may not be used where the session is now, since its audience has widened, is left
 * behind: the summary so far as well as messages [V2]. Rejects with `ModelError`, like `writeSummary`.
 */
export async function foldBatch(
  writer: SummaryWriter & { readonly clock: Clock },
  session: SessionKey,
  summary: StoredSummary | undefined,
  batch: readonly SequencedMessage[],
  place: Place | undefined,
  signal?: AbortSignal,
): Promise<StoredSummary | undefined> {
  const isUsable = (origin: Origin): boolean =>
    place === undefined || mayUse({ ownerId: session.userId, ...originOf(origin) }, place, session.userId);
  const previous = summary !== undefined && isUsable(summary) ? summary : undefined;
  const messages = batch.filter(({ message }) => isUsable(message));
  const [first, ...rest] = messages.map(({ message }) => message);
  if (first === undefined) return previous;

  const text = await writeSummary(writer, previous?.text, messages, signal);
  const origin = [...(previous === undefined ? [] : [previous]), ...rest].reduce<Origin>(
    narrowerOrigin,
    first,
  );
  return { text, updatedAt: writer.clock().toISOString(), ...originOf(origin) };
}

/** Where something made of both may be used: where each of them may. */
function narrowerOrigin(a: Origin, b: Origin): Origin {
  return narrower(a.visibility, b.visibility) === a.visibility ? a : b;
}

function originOf({ visibility, homeId }: Origin): Origin {
  return { visibility, homeId };
}
