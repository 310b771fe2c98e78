import { ActivityType, Events, type Client, type PresenceData } from 'discord.js';

import type { Timer } from '../core/time.ts';

export type ShownState = keyof typeof presences;

export const presences = {
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

/** Discord takes 5 presences in 20 seconds. */
const pauseMs = 5000;

/** Shows the latest state as soon as Discord takes one, and again on each new session. */
export function createPresence(client: Pick<Client, 'user' | 'isReady' | 'on'>, timer: Timer) {
  let wanted: ShownState = 'well';
  // Discord's own default.
  let sent: ShownState | undefined = 'well';
  let isPausing = false;
  let isClosed = false;

  function update(): void {
    // Without a connection, the library's promise would reject unhandled.
    if (wanted === sent || isPausing || isClosed || !client.isReady()) return;
    sent = wanted;
    isPausing = true;
    timer(() => {
      isPausing = false;
      update();
    }, pauseMs);
    client.user.setPresence(presences[wanted]);
  }

  for (const event of [Events.ClientReady, Events.ShardReady, Events.ShardResume] as const)
    client.on(event, () => {
      sent = undefined;
      update();
    });
  return {
    /** Never throws. */
    show(state: ShownState): void {
      wanted = state;
      update();
    },
    close(): void {
      isClosed = true;
    },
  };
}
