import { invitePermissions, neededIntents, neededPermissions } from './needs.ts';

/** The README's passage on what the bot asks of Discord and why, as markdown: invite link, permissions, intents. */
export function needsText(): string {
  const link = `https://discord.com/oauth2/authorize?client_id=YOUR_APPLICATION_ID&scope=bot+applications.commands&permissions=${invitePermissions()}`;
  return [
    `\`${link}\``,
    '',
    '| what | why |',
    '|---|---|',
    '| scope `bot` | to be in the server at all |',
    '| scope `applications.commands` | for `/memory`, `/status`, `/settings` and the entries in the menu of a message |',
    ...neededPermissions.map(({ permission, why }) => `| permission *${inWords(permission)}* | ${why} |`),
    ...neededIntents.map(
      ({ intent, isPrivileged, why }) =>
        `| intent *${inWords(intent)}*${isPrivileged === true ? ', **to be switched on**' : ''} | ${why} |`,
    ),
  ].join('\n');
}

/** `SendMessages` → `Send Messages`, as Discord's own pages write it. */
function inWords(name: string): string {
  return name.replaceAll(/(?<=[a-z])(?=[A-Z])/gu, ' ');
}
