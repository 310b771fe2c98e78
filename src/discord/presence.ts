import { ActivityType, Events, type Client, type PresenceData } from 'discord.js';

import type { Logger } from '../core/logger.ts';
import type { Timer } from '../core/time.ts';

/** What people are to see of the bot: all is well, its model is out of reach, or it has the offline stand-in only. */
export type ShownState = keyof typeof presences;

const presences = {
  well: { status: 'online', activities: [] },
  'out-of-reach': { status: 'idle', activities: [customStatus('My language model is out of reach')] },
  'stand-in': {
    status: 'online',
    activities: [customStatus('Offline model: no language model is configured')],
  },
} satisfies Readonly<Record<string, PresenceData>>;

function customStatus(text: string) {
  return { type: ActivityType.Custom, name: 'Custom Status', state: text };
}

/** Discord takes 5 presences in 20 seconds; milliseconds between two. */
const pauseMs = 5000;

/** Sends no presence sooner than {@link pauseMs} after the one before. */
export function createPresence(send: (state: ShownState) => void, timer: Timer) {
  let wanted: ShownState = 'well';
  // What Discord shows by itself when a bot comes.
  let sent: ShownState | undefined = 'well';
  let isPausing = false;

  function update(): void {
    if (wanted === sent || isPausing) return;
    sent = wanted;
    send(wanted);
    isPausing = true;
    timer(() => {
      isPausing = false;
      update();
    }, pauseMs);
  }

  return {
    show(state: ShownState): void {
      wanted = state;
      update();
    },
    /** After a new connection, of which nobody knows what Discord shows. */
    again(): void {
      sent = undefined;
      update();
    },
  };
}

export function createClientPresence(
  client: Client,
  { timer, logger }: { readonly timer: Timer; readonly logger: Logger },
) {
  let isClosed = false;
  const presence = createPresence((state) => {
    // Where there is no connection any more, what the library does with it would be rejected with nobody to hear of it.
    if (isClosed) return;
    try {
      client.user?.setPresence(presences[state]);
    } catch (error) {
      logger.warn('the presence could not be set', { error });
    }
  }, timer);
  let latest: ShownState = 'well';
  let isConnected = client.isReady();
  client.once(Events.ClientReady, () => {
    isConnected = true;
    presence.show(latest);
  });
  client.on(Events.ShardReady, () => isConnected && presence.again());
  client.on(Events.ShardResume, () => isConnected && presence.again());
  return {
    /** Shows a state as soon as Discord takes one; of several until then the last. Never throws. */
    show(state: ShownState): void {
      latest = state;
      if (isConnected) presence.show(state);
    },
    /** Shows nothing from now on: the client is about to be destroyed. */
    close(): void {
      isClosed = true;
    },
  };
}
