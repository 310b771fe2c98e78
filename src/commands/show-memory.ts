import type { CommandRequest } from '../core/chat.ts';
import { renderSection } from '../core/section.ts';
import { sessionOf } from '../core/turn-context.ts';
import { referenceTo, withReference } from '../core/errors.ts';
import type { CommandOptions } from './command-options.ts';
import { readFailure } from './failure-answer.ts';
import { counted, formerLines, listedItem, nameable } from './item-lines.ts';
import { readingPlace } from './reading-place.ts';

/** What one layer has to show: a text, and how much of its budget a prompt here uses. */
interface LayerView {
  readonly text?: string;
  readonly usage?: string;
}

/**
 * Durable items, the rolling summary of this conversation, and what of each budget is used [K3]. A layer that cannot be read
 * says so and the others are shown.
 */
export async function showMemory(request: CommandRequest, options: CommandOptions): Promise<string> {
  const layers = [viewItems, viewSummary, viewRecent];
  const views = await Promise.all(
    layers.map(async (view) => {
      try {
        return await view(request, options);
      } catch (error) {
        const reference = referenceTo(request.id);
        options.logger.error('a memory layer could not be shown', {
          reference,
          userId: request.speaker.id,
          error,
        });
        return { text: withReference(readFailure(error), reference) };
      }
    }),
  );
  const usages = views.flatMap(({ usage }) => (usage === undefined ? [] : [usage]));
  const parts = views.flatMap(({ text }) => (text === undefined ? [] : [text]));
  if (await options.isMemoryOff(request.place))
    parts.push('Memory is switched off in this channel by my owner: none of this is used here.');
  else if (usages.length > 0) parts.push(`Characters used in a prompt here: ${usages.join(' · ')}`);
  return parts.join('\n\n');
}

async function viewItems(request: CommandRequest, options: CommandOptions): Promise<LayerView> {
  if (!options.settings.durableEnabled) return { text: 'Durable memory is switched off on this bot.' };
  const { speaker, place } = request;
  const view = readingPlace(request);
  const [items, former, { used, budget }] = await Promise.all([
    options.durable.list(speaker.id),
    options.durable.formerOf(speaker.id),
    options.durable.usage(speaker.id, place),
  ]);
  const { named, hidden } = nameable(items, speaker.id, view);
  const lines = [
    `Durable memory (${counted(named.length, 'item')}):`,
    ...named.flatMap((item) => [
      listedItem(item, view, options.timeZone),
      ...formerLines(former.get(item.id) ?? [], speaker.id, view, options.timeZone),
    ]),
    ...(items.length === 0 ? ['Nothing yet. `!memory remember <text>` adds something.'] : []),
    ...(hidden === 0 ? [] : [`${hidden} more in our DM: say \`!memory show\` there.`]),
  ];
  return { text: lines.join('\n'), usage: `durable items ${used} of ${budget}` };
}

async function viewSummary(request: CommandRequest, options: CommandOptions): Promise<LayerView> {
  const { summaryEnabled, summaryMaxChars } = options.settings;
  if (!summaryEnabled) return { text: 'The rolling summary is switched off on this bot.' };
  const summary = await options.rolling.show(sessionOf(request), readingPlace(request), request.speaker.id);
  return {
    text: `Rolling summary:\n${summary ?? 'None of this conversation yet.'}`,
    usage: `rolling summary ${Math.min(summary?.length ?? 0, summaryMaxChars)} of ${summaryMaxChars}`,
  };
}

async function viewRecent(request: CommandRequest, options: CommandOptions): Promise<LayerView> {
  if (!options.settings.shortTermEnabled) return {};
  const { speaker, place, at } = request;
  const context = { speaker, place, messages: [], now: new Date(at), hasThirdPartyText: true };
  const sections = await options.shortTerm.reader.read(context);
  const used = sections.reduce((sum, section) => sum + renderSection(section).length, 0);
  return { usage: `recent exchanges ${used} of ${options.settings.shortTermMaxChars}` };
}
