import type { ChannelPort } from '../../src/core/chat.ts';
import type { RecentChanges } from '../../src/core/changes.ts';
import type { Writes } from '../../src/core/writes.ts';
import type { Place } from '../../src/core/place.ts';
import type { Store } from '../../src/core/store.ts';
import {
  createChannelNotes,
  type ChannelNotes,
  type ChannelNotesOptions,
} from '../../src/memory/channel/channel-notes.ts';
import { silent } from './sessions.ts';

/** Channels as they are now, by id, and who may do what there; by default everybody reads and nobody moderates. */
export class FakeChannels implements ChannelPort {
  readonly places = new Map<string, Place>();
  /** `<capability> <channelId> <userId>` → the answer, where it is another than by default. */
  readonly answers = new Map<string, boolean>();

  constructor(...places: readonly Place[]) {
    for (const place of places) this.set(place);
  }

  set(place: Place): void {
    this.places.set(place.channelId, place);
  }

  placeOf(channelId: string): Promise<Place | undefined> {
    return Promise.resolve(this.places.get(channelId));
  }

  personMay(capability: 'read' | 'moderate', channelId: string, userId: string): Promise<boolean> {
    const answer = this.answers.get(`${capability} ${channelId} ${userId}`);
    return Promise.resolve(answer ?? capability === 'read');
  }
}

/** Since when channel memory is on in tests. */
const onSince = '2026-01-01T00:00:00.000Z';

/** Channel notes where channel memory is on everywhere, and nobody has paused. */
export function notesOver(
  store: Store,
  ports: {
    readonly writes: Writes;
    readonly channels: ChannelPort;
    readonly recent: Pick<RecentChanges, 'latest'>;
  } & Partial<Pick<ChannelNotesOptions, 'settings' | 'people' | 'guildsOf'>>,
): ChannelNotes {
  return createChannelNotes({
    settings: {
      channelMemorySince: () => Promise.resolve(onSince),
      isMemoryOff: () => Promise.resolve(false),
    },
    people: { mayStore: () => Promise.resolve(true), pauseIn: () => Promise.resolve(undefined) },
    guildsOf: () => Promise.resolve([]),
    ...ports,
    store,
    timeZone: 'UTC',
    logger: silent,
  });
}
