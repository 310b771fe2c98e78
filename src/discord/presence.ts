import { ActivityType, Events, type Client, type PresenceData } from 'discord.js';

import type { Logger } from '../core/logger.ts';
import type { Timer } from '../core/time.ts';

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

/** Discord takes 5 presences in 20 seconds. */
const pauseMs = 5000;

/** Sends nothing while it is not open; `again` sends what is wanted, whatever was sent before. */
export function createPresence(
  send: (state: ShownState) => void,
  timer: Timer,
  isOpen: () => boolean = () => true,
) {
  let wanted: ShownState = 'well';
  // Discord's own default.
  let sent: ShownState | undefined = 'well';
  let isPausing = false;

  function update(): void {
    if (wanted === sent || isPausing || !isOpen()) return;
    sent = wanted;
    send(wanted);
    isPausing = true;
    timer(() => {
      isPausing = false;
      update();
    }, pauseMs);
  }

  return {
    show: (state: ShownState): void => {
      wanted = state;
      update();
    },
    again: (): void => {
      sent = undefined;
      update();
    },
  };
}

export function createClientPresence(
  client: Client,
  { timer, logger }: { readonly timer: Timer; readonly logger: Logger },
) {
  // Without a connection, the library's promise would reject unhandled.
  let isClosed = false;
  const presence = createPresence(
    (state) => {
      try {
        client.user?.setPresence(presences[state]);
      } catch (error) {
        logger.warn('the presence could not be set', { error });
      }
    },
    timer,
    () => client.isReady() && !isClosed,
  );
  const connected = [Events.ClientReady, Events.ShardReady, Events.ShardResume] as const;
  for (const event of connected) client.on(event, presence.again);
  return {
    /** Shows the latest state as soon as Discord takes one. Never throws. */
    show: presence.show,
    close(): void {
      isClosed = true;
    },
  };
}
