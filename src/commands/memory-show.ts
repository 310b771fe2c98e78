import type { CommandContext, CommandReply } from '../core/commands.ts';
import { renderSection } from '../core/section.ts';
import { sessionOf } from '../core/turn-context.ts';
import { counted, listedItem, nameable, readFailureReply, readingPlace } from './answer-lines.ts';
import { restrictions } from './memory-control.ts';
import type { MemoryCommandPorts } from './memory-ports.ts';
import { retentionText } from './memory-privacy.ts';

/** What one layer has to show: a text, and how much of its budget a prompt here uses, in characters. */
interface LayerView {
  readonly text?: string;
  readonly usage?: { readonly name: string; readonly used: number; readonly budget: number };
}

/** Where none of it is used. */
export const switchedOffLine = 'Memory is switched off in this channel: none of this is used here.';

/**
 * Durable items, the rolling summary of this conversation, and what of each budget is used [K3]. A layer that cannot be read
 * says so and the others are shown.
 */
export async function showMemory(context: CommandContext, ports: MemoryCommandPorts): Promise<CommandReply> {
  const views = await viewLayers(context, ports);
  const usages = views.flatMap(({ usage }) =>
    usage === undefined ? [] : [`${usage.name} ${usage.used} of ${usage.budget}`],
  );
  const parts = views.flatMap(({ text }) => (text === undefined ? [] : [text]));
  if (await ports.isMemoryOff(context.place)) parts.push(switchedOffLine);
  else if (usages.length > 0) parts.push(`Characters used in a prompt here: ${usages.join(' · ')}`);
  const { retentionDays } = ports.privacyFacts;
  if (retentionDays > 0) parts.push(retentionText(retentionDays));
  return { text: parts.join('\n\n') };
}

/** Each layer as it is shown. Never rejects: where one cannot be read, its text says so. */
export function viewLayers(
  context: CommandContext,
  ports: MemoryCommandPorts,
): Promise<readonly LayerView[]> {
  return Promise.all(
    [viewItems, viewSummary, viewRecent, viewRestrictions].map(async (view): Promise<LayerView> => {
      try {
        return await view(context, ports);
      } catch (error) {
        return readFailureReply(error, 'a memory layer could not be shown', context, ports.logger);
      }
    }),
  );
}

async function viewItems(context: CommandContext, ports: MemoryCommandPorts): Promise<LayerView> {
  if (!ports.settings.durableEnabled) return { text: 'Durable memory is switched off on this bot.' };
  const { speaker, place } = context;
  const view = readingPlace(context);
  const [items, { used, budget }] = await Promise.all([
    ports.durable.list(speaker.id),
    ports.durable.usage(speaker.id, place),
  ]);
  const { named, hidden } = nameable(items, speaker.id, view);
  const lines = [
    `Durable memory (${counted(named.length, 'item')}):`,
    ...named.map((item) => listedItem(item, view)),
    ...(items.length === 0 ? ['Nothing yet. `!memory remember <text>` adds something.'] : []),
    ...(hidden === 0 ? [] : [`${hidden} more in our DM: say \`!memory show\` there.`]),
  ];
  return { text: lines.join('\n'), usage: { name: 'durable items', used, budget } };
}

async function viewSummary(context: CommandContext, ports: MemoryCommandPorts): Promise<LayerView> {
  const { summaryEnabled, summaryMaxChars } = ports.settings;
  if (!summaryEnabled) return { text: 'The rolling summary is switched off on this bot.' };
  const summary = await ports.rolling.show(sessionOf(context), readingPlace(context), context.speaker.id);
  return {
    text: `Rolling summary:\n${summary ?? 'None for this conversation yet.'}`,
    usage: {
      name: 'rolling summary',
      used: Math.min(summary?.length ?? 0, summaryMaxChars),
      budget: summaryMaxChars,
    },
  };
}

async function viewRecent(context: CommandContext, ports: MemoryCommandPorts): Promise<LayerView> {
  if (!ports.settings.shortTermEnabled) return {};
  const { speaker, place, at } = context;
  const turn = { speaker, place, messages: [], now: new Date(at), hasThirdPartyText: true };
  const sections = await ports.shortTerm.sections(turn);
  const used = sections.reduce((sum, section) => sum + renderSection(section).length, 0);
  return { usage: { name: 'recent exchanges', used, budget: ports.settings.shortTermMaxChars } };
}

async function viewRestrictions(context: CommandContext, ports: MemoryCommandPorts): Promise<LayerView> {
  const text = await restrictions(context, ports);
  return text === undefined ? {} : { text };
}
