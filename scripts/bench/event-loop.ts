import { usableEvent } from '../../src/discord/payloads.ts';
import { largestGuild } from '../../test/discord/support/largest-guild.ts';
import { createTemporaryStores } from '../../test/storage/files/temporary-store.ts';
import { watchEventLoop, type HeldLoop } from '../../test/support/event-loop.ts';
import { openLargeMemory, usualText } from '../../test/support/large-memory.ts';
import { openLargestInputs, type LargestInput } from '../../test/support/largest-inputs.ts';
import { shapes } from '../../test/support/shapes.ts';
import type { Bench } from './measured.ts';

/** Events of Discord's largest deletion, and messages in one. */
const deletions = { events: 30, messages: 100 };

/**
 * The longest time that the event loop is held in one go [L4], with the largest inputs that Discord delivers in every shape and with a large memory;
 * garbage collection is named apart. The sandbox and the model's server are in the same process, so that what they compute counts too.
 */
export async function benchEventLoop(bench: Bench): Promise<void> {
  for (const name of ['a message', 'ten files', 'a set of cards', 'a burst', 'what is shown'] as const)
    await benchInput(bench, name);
  await benchLargestGuild(bench);
  await benchMemory(bench, 'a search of 20,000 messages', 20_000, ({ search }) => search(usualText(12_345)));
  await benchMemory(bench, '3,000 messages deleted in 30 events', 6000, ({ ownIds, remove }) =>
    Promise.all(
      Array.from({ length: deletions.events }, (_, index) =>
        remove(ownIds.slice(index * deletions.messages, (index + 1) * deletions.messages)),
      ),
    ),
  );
  await benchMemory(bench, '3,000 messages deleted at once', 6000, ({ ownIds, remove }) => remove(ownIds));
}

/** In a process of many messages the sandbox would be measured, which looks through them all: each input has a stage of its own. */
async function benchInput(bench: Bench, name: LargestInput): Promise<void> {
  const { inputs, close } = await openLargestInputs();
  try {
    await inputs[name]('sentences');
    const found: (HeldLoop & { readonly shape: string })[] = [];
    for (const shape of Object.keys(shapes)) found.push({ shape, ...(await inputs[name](shape)) });
    const [worst] = found.toSorted((a, b) => b.longest - a.longest);
    if (worst !== undefined) tell(bench, `${name}, ${found.length} shapes (worst: ${worst.shape})`, worst);
  } finally {
    await close();
  }
}

async function benchLargestGuild(bench: Bench): Promise<void> {
  let last = 1_400_000_000_000_000_000n;
  const guild = largestGuild(() => String((last += 1n)), {});
  const stop = watchEventLoop();
  usableEvent('GUILD_CREATE', guild);
  tell(bench, 'the largest guild at a start', await stop());
}

type LargeMemory = Awaited<ReturnType<typeof openLargeMemory>>;

async function benchMemory(
  bench: Bench,
  name: string,
  messages: number,
  work: (memory: LargeMemory) => Promise<unknown>,
): Promise<void> {
  const stores = await createTemporaryStores();
  try {
    const store = await stores.open();
    const memory = await openLargeMemory(store, messages);
    // A notebook at its limit.
    const notes = Array.from({ length: 550 }, (_, index) => `- ${usualText(index * 3)}`).join('\n');
    await store.writeText(`users/${memory.session.userId}/notebook/MEMORY.md`, notes);
    const stop = watchEventLoop();
    await work(memory);
    tell(bench, name, await stop());
  } finally {
    await stores.dispose();
  }
}

function tell(bench: Bench, name: string, { longest, garbage }: HeldLoop): void {
  bench.tell({ name: `loop held, ${name}`, unit: 'ms', ours: [longest] });
  bench.tell({ name: `garbage collection, ${name}`, unit: 'ms', ours: [garbage] });
}
