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
 * channel's id wins over one named by its name; a name counts only if it can be part of a storage key.
 */
export function channelContextReader({ store }: { readonly store: Store }): SectionReader<TurnContext> {
  return {
    layer: 'channel-context',
    async read({ place }) {
      for (const key of contextKeys(place)) {
        const text = await store.readText(key);
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

/** Whoever names a channel must not reach another folder by the name, nor, by the other's id, another channel's file. */
function isUsableName(name: string): boolean {
  return /^(?!\.)[\w.-]+$/.test(name) && !isSnowflake(name);
}
