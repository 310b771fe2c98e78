import type { ServerPort } from '../../core/channels.ts';
import type { Logger } from '../../core/logger.ts';
import type { Place } from '../../core/place.ts';
import type { SectionSource } from '../../core/section.ts';
import { isSnowflake } from '../../core/snowflake.ts';
import type { Store } from '../../core/store.ts';
import type { TurnContext } from '../../core/turn-context.ts';
import { textSection } from './sections.ts';

const soulKey = 'workspace/SOUL.md';

/** Of it in a prompt [P4]. */
const soulMaxChars = 8_000;

/** For a bot whose owner has written none. */
const defaultSoul = `You are Discoclaw, a Discord bot with a memory that people can see, correct and trust.

You are warm, plain-spoken and brief: a Discord message, not an essay. You answer in the language you are spoken to. You say so when you do not know something.

You are honest about your memory. You use what you remember when it helps, without making a show of it; you never invent a memory, and you tell people that \`!memory show\` lists what you keep and \`!memory forget\` makes you forget it.`;

/** What the bot's owner wrote for everybody, read each turn through the store's cache [S5]. */
export function createWorkspace({
  store,
  server,
  logger,
}: {
  readonly store: Store;
  readonly server: Pick<ServerPort, 'hasSeveral'>;
  readonly logger: Logger;
}) {
  let lastSoul = defaultSoul;
  const channelContext: SectionSource<TurnContext> = {
    name: 'channel-context',
    sections: ({ place }) => channelSections(store, place, server.hasSeveral()),
  };

  /** Logs the files about channels that are not used, and how to rename them [N8]. */
  async function nameUnusedContexts(): Promise<void> {
    if (!server.hasSeveral()) return;
    for (const { path } of await store.list(contextFolder)) {
      const name = /^(?<name>[^/]+)\.md$/u.exec(path)?.groups?.['name'];
      if (name === undefined || isSnowflake(name)) continue;
      logger.warn(
        'what is written about a channel by its bare name is not used: the bot is in several servers',
        {
          file: `${contextFolder}/${name}.md`,
          renameTo: `${contextFolder}/<server id>/${name}.md, or ${contextFolder}/<channel id>.md`,
        },
      );
    }
  }

  return {
    /** The bot's identity, first in every prompt [N1]. Never rejects: the last or a built-in text stands in. */
    async soul(this: void): Promise<string> {
      try {
        lastSoul = (await store.readText(soulKey))?.trim() || defaultSoul;
      } catch (error) {
        logger.warn('the identity text could not be read', { key: soulKey, error });
      }
      return lastSoul;
    },
    channelContext,
    /** Warns of what is not used, or not whole. Never rejects. */
    async checkAtStart(this: void): Promise<void> {
      try {
        await nameUnusedContexts();
        const { length } = (await store.readText(soulKey))?.trim() ?? '';
        if (length > soulMaxChars) {
          logger.warn('the identity text is too long, only its beginning is used', {
            key: soulKey,
            characters: length,
            used: soulMaxChars,
          });
        }
      } catch (error) {
        logger.warn('what the owner wrote for everybody could not be read', { error });
      }
    },
    /** What the owner wrote about privacy [K12]. Rejects with `StoreError`. */
    privacyText: () => store.readText('workspace/PRIVACY.md'),
  };
}

/** The owner's words on a channel, in its prompts and its threads' [N8]. Anybody can call a channel so elsewhere. */
async function channelSections(
  store: Store,
  { parentId, parentName, guildId, ...place }: Place,
  areInSeveral: boolean,
) {
  const id = parentId ?? place.channelId;
  const name = parentId === undefined ? place.channelName : parentName;
  const bareNames = areInSeveral ? [] : [name];
  const names =
    guildId !== undefined && name !== undefined && isUsableName(name)
      ? [`${guildId}/${name}`, ...bareNames]
      : [];
  for (const each of [id, ...names]) {
    const key = `${contextFolder}/${each}.md`;
    const text = await store.readText(key);
    if (text !== undefined) return [channelSection(key, text)];
  }
  return [];
}

const contextFolder = 'workspace/channels';

function channelSection(key: string, text: string) {
  const frame = {
    name: 'channel_context',
    slot: 'channel',
    title: 'About this channel, from the owner of this bot:',
    partTitle: `About this channel, from the owner of this bot (the beginning of ${key}):`,
    budget: contextMaxChars,
  } as const;
  return textSection(frame, text);
}

/** As rendered [N8]. */
const contextMaxChars = 2000;

/** So that with its ending it is a file name anywhere. */
const nameMaxBytes = 240;

/** A channel's name must not reach another folder or, by an id, another channel's file. */
function isUsableName(name: string): boolean {
  return (
    /^[^./\\\p{Cc}][^/\\\p{Cc}]*$/u.test(name) &&
    !isSnowflake(name) &&
    Buffer.byteLength(name) <= nameMaxBytes
  );
}
