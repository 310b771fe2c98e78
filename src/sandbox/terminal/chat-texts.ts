import type { ChannelView, CommandView } from '../control/control-views.ts';
import type { SandboxInfo } from '../control/local-control.ts';
import type { ChatAction } from './chat-action.ts';
import { interactionActions } from './interaction-actions.ts';
import { messageActions } from './message-actions.ts';
import { inReadingOrder, placeName } from './places.ts';

/** Commands of the chat that stand for what people do in Discord. */
export const chatActions: Readonly<Record<string, ChatAction>> = {
  ...messageActions,
  ...interactionActions,
};

/** Everything that can be typed with a slash, and what it does. */
function commandRows({ people }: SandboxInfo): readonly (readonly [usage: string, meaning: string])[] {
  return [
    ['/as NAME', `speak as somebody else: ${Object.keys(people).join(', ')}`],
    ['/go PLACE', 'go to a #channel, to your @dm with the bot, or to a thread by its name'],
    ['/who', 'who is here, and who sees which place'],
    ['/demo', 'see a short demonstration, which changes nothing here'],
    ...Object.entries(chatActions).map(
      ([name, { usage, meaning }]) => [`/${name} ${usage}`.trim(), meaning] as const,
    ),
    ['/help', 'this'],
    ['/quit', 'end'],
  ];
}

/** The names of the chat's own commands. */
export function chatCommands(info: SandboxInfo): readonly string[] {
  return commandRows(info).map(([usage]) => usage.replace(/ .*/u, ''));
}

export interface ChatView {
  readonly info: SandboxInfo;
  readonly channels: readonly ChannelView[];
  /** The name of who speaks. */
  readonly speaker: string;
  readonly place: string;
}

export function helpText({ info, speaker, place }: ChatView, commands: readonly CommandView[]): string {
  const rows = commandRows(info);
  const width = Math.max(...rows.map(([command]) => command.length)) + 2;
  return [
    `What you write is said by ${speaker} in ${place}; @${info.bot.name} mentions the bot.`,
    ...rows.map(([command, meaning]) => `  ${command.padEnd(width)}${meaning}`),
    '^2 is the message before the newest one, and so on; /messages counts them.',
    ...commandLines(commands),
    'To say a line that begins with a slash, put a space before it.',
  ].join('\n');
}

/** What the bot has registered. */
function commandLines(commands: readonly CommandView[]): readonly string[] {
  const slash = commands.filter(({ type }) => type === 'slash');
  const menu = commands.filter(({ type }) => type === 'message');
  const slashLines = slash.map(({ name, subcommands }) =>
    [`/${name}`, subcommands.map(({ path }) => path).join('|')].join(' ').trim(),
  );
  return [
    ...(slashLines.length === 0 ? [] : [`The bot's own commands: ${slashLines.join(', ')}`]),
    ...(menu.length === 0 ? [] : [`In a message's menu: ${menu.map(({ name }) => name).join(', ')}`]),
  ];
}

/** People, and every place with those who see it. */
export function whoText({ info, channels, speaker, place }: ChatView): string {
  const people = Object.keys(info.people).map((name) => {
    const facts = [name === speaker ? 'you' : '', name === info.owner.name ? 'owns the bot' : ''];
    const remark = facts.filter((fact) => fact !== '').join(', ');
    return remark === '' ? name : `${name} (${remark})`;
  });
  const rows = inReadingOrder(channels)
    .filter((channel) => channel.kind !== 'dm' || channel.name === speaker)
    .map((channel) => [placeName(channel, channels, speaker), channel.seenBy.join(', ')] as const);
  const width = Math.max(...rows.map(([name]) => name.length));
  return [
    `People: ${people.join(', ')}; the bot is ${info.bot.name}.`,
    'Who sees what:',
    ...rows.map(
      ([name, seenBy]) => `  ${name.padEnd(width)}  ${seenBy}${name === place ? '  ← you are here' : ''}`,
    ),
  ].join('\n');
}
