import type { Store } from '../../../src/core/store.ts';
import type { ToolOutcome } from '../../../src/core/tool.ts';
import type { TurnContext } from '../../../src/core/turn-context.ts';
import { createNotebook } from '../../../src/memory/notebook/notebook.ts';
import { aliceId, publicPlace } from '../../support/incoming.ts';
import { MemoryStore } from '../../support/memory-store.ts';
import { dmPlace, openSessions, secretPlace, silent } from '../../support/sessions.ts';
import { notebookSettings } from '../../support/layer-settings.ts';

const noon = new Date('2026-01-15T12:00:00Z');
const { signal } = new AbortController();

/** Where Alice's files lie in the store. */
export const aliceRoot = `users/${aliceId}/notebook`;
export const dmSession = `sessions/${dmPlace.channelId}/${aliceId}`;

/** Alice, who is nobody's owner, in her DM at noon, with nobody else's text around. */
export function dmContext(changes: Partial<TurnContext> = {}): TurnContext {
  return {
    speaker: { id: aliceId, name: 'Alice', isOwner: false },
    place: dmPlace,
    messages: [{ id: '400000000000000001', text: 'hello', at: noon.toISOString(), attachments: [] }],
    now: noon,
    work: { userId: aliceId },
    hasThirdPartyText: false,
    ...changes,
  };
}

export function inGuild(audience: 'public' | 'private' = 'public'): TurnContext {
  return dmContext({ place: audience === 'private' ? secretPlace : publicPlace });
}

export const asOwner = { speaker: { id: aliceId, name: 'Alice', isOwner: true } };

/** A notebook over a store, by default one in memory with these texts, and its tools by name; a turn's messages count as logged unless it `looksInLog`. */
export async function openNotebook(
  texts: Readonly<Record<string, string>> = {},
  {
    store = new MemoryStore(),
    timeZone = 'UTC',
    looksInLog = false,
  }: { readonly store?: Store; readonly timeZone?: string; readonly looksInLog?: boolean } = {},
) {
  for (const [key, text] of Object.entries(texts)) await store.writeText(key, text);
  const { writes, states, log, recent, ledgerOver } = openSessions(store);
  const notebook = createNotebook({
    settings: notebookSettings,
    store,
    writes,
    states,
    log: looksInLog ? log : { ...log, isUnchanged: () => Promise.resolve(true) },
    logger: silent,
    timeZone,
  });

  function run(tool: string, input: unknown, context: TurnContext = dmContext()): Promise<ToolOutcome> {
    const found = notebook.tools.find(({ definition }) => definition.name === `memory_${tool}`);
    if (found === undefined) throw new RangeError(`There is no memory_${tool}`);
    return found.run(input, context, signal);
  }

  function sections(context: TurnContext = dmContext()) {
    return notebook.sections(context);
  }

  return {
    store,
    recent,
    log,
    ledger: ledgerOver([notebook]),
    notebook,
    run,
    sections,
    read: (key: string) => store.readText(key),
  };
}
