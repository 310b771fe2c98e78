import { GatewayIntentBits } from 'discord-api-types/v10';

import type { PrivilegedIntents } from '../world/entities.ts';

const knownIntents = Object.values(GatewayIntentBits).reduce<number>(
  (all, bit) => (typeof bit === 'number' ? all | bit : all),
  0,
);

/** What is to be said of the intents that a client identifies with. */
export type IntentsVerdict = 'allowed' | 'invalid' | 'disallowed';

/** `invalid`: bits that Discord does not know; `disallowed`: privileged intents that are not switched on for the bot. */
export function judgeIntents(intents: number, privileged: PrivilegedIntents): IntentsVerdict {
  if (!Number.isInteger(intents) || intents < 0 || (intents & ~knownIntents) !== 0) return 'invalid';
  const refused =
    (privileged.messageContent ? 0 : GatewayIntentBits.MessageContent) |
    (privileged.guildMembers ? 0 : GatewayIntentBits.GuildMembers) |
    (privileged.presences ? 0 : GatewayIntentBits.GuildPresences);
  return (intents & refused) === 0 ? 'allowed' : 'disallowed';
}

/** Whether a client with these intents gets an event that needs one; 0 needs none. */
export function subscribes(intents: number, needed: number): boolean {
  return needed === 0 || (intents & needed) !== 0;
}
