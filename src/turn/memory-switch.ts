import { LRUCache } from 'lru-cache';

import type { Place } from '../core/place.ts';
import { renderSection } from '../core/section.ts';
import type { Section, SectionReader } from '../core/section.ts';
import type { Tool } from '../core/tool.ts';
import type { TurnContext } from '../core/turn-context.ts';
import type { SessionLog } from '../memory/session-log/session-log.ts';

/** Messages that were said while memory was off, remembered so that no reply to them is logged after it was switched on. */
const rememberedMessages = 5000;

type TurnLog = Pick<SessionLog, 'recordUser' | 'recordReply'>;

/**
 * Keeps memory out of the places where the bot's owner has switched it off: nothing of it is read for a turn there, no tool reaches it,
 * nothing of the turn is logged. What a turn reads is decided once for the whole turn; what it writes, at the moment of writing.
 */
export interface MemorySwitch {
  isOff(context: TurnContext): Promise<boolean>;
  /** The same layers, silent where memory is off, and one that tells the model that it is. */
  readers(layers: readonly SectionReader<TurnContext>[]): readonly SectionReader<TurnContext>[];
  /** The same tools, refusing where memory was switched off meanwhile. */
  tools(tools: readonly Tool[]): readonly Tool[];
  log(log: TurnLog): TurnLog;
}

/** `isMemoryOff` must not reject. */
export function createMemorySwitch(isMemoryOff: (place: Place) => Promise<boolean>): MemorySwitch {
  const decided = new WeakMap<TurnContext, Promise<boolean>>();
  const unlogged = new LRUCache<string, true>({ max: rememberedMessages });

  function isOff(context: TurnContext): Promise<boolean> {
    const known = decided.get(context) ?? isMemoryOff(context.place);
    decided.set(context, known);
    return known;
  }

  return {
    isOff,
    readers: (layers) => [
      ...layers.map((reader) => ({
        layer: reader.layer,
        read: async (context: TurnContext) => ((await isOff(context)) ? [] : reader.read(context)),
      })),
      {
        layer: 'memory switch',
        read: async (context) => ((await isOff(context)) ? [memoryIsOffSection] : []),
      },
    ],
    tools: (tools) =>
      tools.map((tool) => ({
        definition: tool.definition,
        run: async (input, context, signal) =>
          (await isMemoryOff(context.place))
            ? { ok: false, text: 'Memory is switched off in this channel by the owner of this bot.' }
            : tool.run(input, context, signal),
      })),
    log: (log) => ({
      async recordUser(context) {
        if (!(await isMemoryOff(context.place))) return log.recordUser(context);
        for (const { id } of context.messages) unlogged.set(id, true);
        return undefined;
      },
      async recordReply(context, reply) {
        const wasOff = context.messages.some(({ id }) => unlogged.has(id));
        if (!wasOff && !(await isMemoryOff(context.place))) await log.recordReply(context, reply);
      },
    }),
  };
}

const frame = { name: 'turn_facts', slot: 'last', title: 'About this turn:' } as const;
const offLine =
  'Memory is switched off in this channel by the owner of this bot: you know nothing of earlier conversations here, keep nothing of this one, and have no tools for memory. Say so where it matters; in other channels and in direct messages you remember.';

const memoryIsOffSection: Section = {
  ...frame,
  lines: [offLine],
  budget: renderSection({ ...frame, lines: [offLine] }).length,
};
