import { usableEvent } from '../../src/discord/payloads/payloads.ts';
import { largestGuild } from '../../test/discord/support/largest-guild.ts';
import { createTemporaryStores } from '../../test/storage/files/temporary-store.ts';
import { watchEventLoop, type HeldLoop } from '../../test/support/event-loop.ts';
import { openLargeMemory, usualText } from '../../test/support/large-memory.ts';
import { openLargestInputs } from '../../test/support/largest-inputs.ts';
import { shapes } from '../../test/support/shapes.ts';
import { print } from './recall-bench.ts';

/** Events of Discord's largest deletion, and messages in one. */
const deletions = { events: 30, messages: 100 };

/**
 * The longest time that the event loop is held in one go [L4], with the largest inputs that Discord delivers in every shape and with a large memory;
 * garbage collection is named apart. The sandbox and the model's server are in the same process, so that what they compute counts too.
 */
export async function benchEventLoop(): Promise<void> {
  const { inputs, close } = await openLargestInputs();
  try {
    for (const input of Object.values(inputs)) await input('sentences');
    for (const [name, input] of Object.entries(inputs)) {
      const found: (HeldLoop & { readonly shape: string })[] = [];
      for (const shape of Object.keys(shapes)) found.push({ shape, ...(await input(shape)) });
      const [worst] = found.toSorted((a, b) => b.longest - a.longest);
      if (worst !== undefined) tell(`${name}, ${found.length} shapes (worst: ${worst.shape})`, worst);
    }
  } finally {
    await close();
  }
  await benchLargestGuild();
  await benchMemory('a search of 20,000 messages', 20_000, ({ search }) => search(usualText(12_345)));
  await benchMemory('3,000 messages deleted in 30 events', 6000, ({ ownIds, remove }) =>
    Promise.all(
      Array.from({ length: deletions.events }, (_, index) =>
        remove(ownIds.slice(index * deletions.messages, (index + 1) * deletions.messages)),
      ),
    ),
  );
  await benchMemory('3,000 messages deleted at once', 6000, ({ ownIds, remove }) => remove(ownIds));
}

async function benchLargestGuild(): Promise<void> {
  let last = 1_400_000_000_000_000_000n;
  const guild = largestGuild(() => String((last += 1n)), {});
  const stop = watchEventLoop();
  await usableEvent('GUILD_CREATE', guild);
  tell('the largest guild at a start', await stop());
}

type LargeMemory = Awaited<ReturnType<typeof openLargeMemory>>;

async function benchMemory(
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
    tell(name, await stop());
  } finally {
    await stores.dispose();
  }
}

function tell(name: string, { longest, garbage }: HeldLoop): void {
  print(
    `event loop, ${name}: held ${longest.toFixed(0)} ms at most · garbage collection ${garbage.toFixed(0)} ms`,
  );
}
