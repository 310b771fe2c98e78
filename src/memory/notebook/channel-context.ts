import type { Place } from '../../core/place.ts';
import type { SectionReader } from '../../core/section.ts';
import { isSnowflake } from '../../core/snowflake.ts';
import type { Store } from '../../core/store.ts';
import type { TurnContext } from '../../core/turn-context.ts';
import { textSection } from './text-section.ts';

/** Characters of a channel's context as rendered [N8]. */
const contextMaxChars = 2000;

/**
 * What the owner wrote about a channel, in every prompt of that channel and its threads, whoever speaks [N8]. A file named by the
 * channel's id wins over one named by its name.
 */
export function channelContextReader({ store }: { readonly store: Store }): SectionReader<TurnContext> {
  return {
    layer: 'channel-context',
    async read({ place }) {
      for (const key of contextKeys(place)) {
        const text = await readIfKey(store, key);
        if (text !== undefined) return [contextSection(key, text)];
      }
      return [];
    },
  };
}

function contextSection(key: string, text: string) {
  const frame = {
    name: 'channel_context',
    slot: 'channel',
    title: 'About this channel, from the owner of this bot:',
    partTitle: `About this channel, from the owner of this bot (the beginning of ${key}):`,
    budget: contextMaxChars,
  } as const;
  return textSection(frame, text);
}

function contextKeys(place: Place): readonly string[] {
  const id = place.parentId ?? place.channelId;
  const name = place.parentId === undefined ? place.channelName : place.parentName;
  const names = name !== undefined && isUsableName(name) ? [id, name] : [id];
  return names.map((each) => `workspace/channels/${each}.md`);
}

/** Bytes of a channel's name at most, so that with its ending it is a file name anywhere. */
const nameMaxBytes = 240;

/** Whoever names a channel must not reach another folder by the name, nor, by the other's id, another channel's file. */
function isUsableName(name: string): boolean {
  return (
    /^[^./\\\p{Cc}][^/\\\p{Cc}]*$/u.test(name) &&
    !isSnowflake(name) &&
    Buffer.byteLength(name) <= nameMaxBytes
  );
}

/** Not every store has keys in every script; where a name can be no key, there is no file by it. */
async function readIfKey(store: Store, key: string): Promise<string | undefined> {
  try {
    return await store.readText(key);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
