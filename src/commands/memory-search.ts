import type { CommandContext, CommandReply } from '../core/commands.ts';
import { dataLine } from '../core/section.ts';
import { clip } from '../core/text.ts';
import type { Reference } from '../memory/recall/segments.ts';
import { brieflyQuoted, counted, readFailureReply, readingPlace, withoutFences } from './answer-lines.ts';
import type { MemoryCommandPorts } from './memory-ports.ts';

/** Passages of at most 300 characters. */
const mostResults = 10;
const queryMaxChars = 1000;

/**
 * The asker's own messages, notes and items that match the literal text best, as far as those who read the answer may be told [C2][C3];
 * messages with the `excluded` ids are not looked for.
 */
export async function searchMemory(
  context: CommandContext,
  query: string,
  { recall, settings, logger }: MemoryCommandPorts,
  excluded: readonly string[] = [],
): Promise<CommandReply> {
  if (!settings.recallEnabled) return { text: 'Searching is switched off on this bot.' };
  const { speaker, at } = context;
  const place = readingPlace(context);
  try {
    const passages = await recall.search({
      queries: [clip(query, queryMaxChars)],
      scope: 'all',
      limit: mostResults,
      speaker,
      place,
      now: new Date(at),
      excluded,
    });
    const heading =
      passages.length === 0
        ? `I found nothing about ${brieflyQuoted(query)}.`
        : `Found ${counted(passages.length, 'result')} for ${brieflyQuoted(query)}:`;
    const blocks = passages.map(
      ({ unit, date, content }, index) =>
        `[${index + 1}] ${date === '' ? '' : `${date}: `}${withoutFences(content)}\n${origin(unit.reference)} · ${unit.reach.visibility}`,
    );
    return { text: [heading, ...blocks, ...(place.audience === 'dm' ? [] : [elsewhere])].join('\n\n') };
  } catch (error) {
    return readFailureReply(error, 'memory could not be searched', context, logger);
  }
}

const elsewhere =
  'Here I search only what may be used here; `/memory search`, or this command in our DM, searches everything.';

function origin(reference: Reference): string {
  switch (reference.kind) {
    case 'item':
      return `id ${dataLine(reference.id)}`;
    case 'line':
      return `file ${dataLine(reference.path)}:${reference.line}`;
    case 'message': {
      const { guildId = '@me', channelId, messageId } = reference;
      // The brackets keep Discord from unfolding the link.
      return `<https://discord.com/channels/${guildId}/${channelId}/${messageId}>`;
    }
  }
}
