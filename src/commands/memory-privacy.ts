import type { CommandReply } from '../core/commands.ts';
import { counted } from './answer-lines.ts';
import type { MemoryCommandPorts, PrivacyFacts } from './memory-ports.ts';

/** Where the owner's own text wants the facts. */
const factsMark = '{{facts}}';

/** Where the owner has written none. */
const ownText = `I am an AI with a memory: I keep what you tell me, so that I can use it when we talk again. You can see all of it, correct it, pause it and have it deleted, at any time and without giving a reason.

${factsMark}

**Questions and requests**
Write to the person who runs me; my profile on Discord shows who that is.`;

/** What is stored, where, how long, who can read it and who else gets it [K12]. */
export async function showPrivacy({
  privacyText,
  privacyFacts,
}: Pick<MemoryCommandPorts, 'privacyText' | 'privacyFacts'>): Promise<CommandReply> {
  const facts = factsText(privacyFacts);
  const written = (await privacyText())?.trim() ?? '';
  return { text: (written === '' ? ownText : written).split(factsMark).join(facts) };
}

function factsText({ provider, layers, quotaMegabytes, retentionDays }: PrivacyFacts): string {
  return [
    '**What I store about you**',
    '- What you write to me and what I answer, with time and place, a log for each conversation. Of files that you attach I keep the names only.',
    ...(layers.durable
      ? [
          `- Items: short sentences about you that you told me to remember${layers.extraction ? ', that you asked for in passing, or that I noticed in what you say about yourself' : ' or said of yourself'}.`,
        ]
      : []),
    ...(layers.summary ? ['- A summary of each conversation.'] : []),
    ...(layers.recentHours === undefined
      ? []
      : [`- What you asked in public channels and what I answered, for ${layers.recentHours} hours.`]),
    `- Notes: on each conversation, and in our direct messages a notebook that we write together${layers.reflection ? '; I look back on a conversation and update them' : ''}.`,
    '- Your settings for all this.',
    '',
    '**Where, and how long**',
    `In files on my operator's machine, readable only by my account there. ${retentionDays === 0 ? 'They stay' : `${retentionText(retentionDays)} The rest stays`} until you delete them. \`!memory erase\` deletes everything at once and keeps only the time of that, so that I never use older messages again. All of yours together take ${quotaMegabytes} MB at most; beyond that your oldest messages go. What you delete or edit in Discord I delete or change too, and \`!memory forget\` takes what you name off the disk.`,
    '',
    '**Who can read it**',
    'You, with the commands below, and my operator. What you said in a direct message I use in our direct messages only; what you said in a private or age-restricted channel, only there, as long as nobody new can read it; what you said in a public channel, only in that server. All of it I may use in our direct messages too, and what you have me remember by command in a public channel, or share, in every server that we share. What I remember of you I never use in an answer to somebody else, but for channel notes.',
    'Channel memory is off unless somebody who manages the server switches it on for a channel; my first answer there says so. Then I also note single sentences that you say to others there, with your name, and use them only in answers whose every reader can read that channel. `!memory channel` lists them; they go when you delete the message, forget them, pause or erase.',
    '',
    '**Who else gets it**',
    `Discord carries all messages. ${providerText(provider)} I train no model with what you say.`,
    '',
    '**What you can do**',
    ...waysToControl,
  ].join('\n');
}

/** How long messages are kept [K15]. */
export function retentionText(days: number): string {
  return `Messages older than ${counted(days, 'day')} are deleted automatically, with what I made from them alone; what you had me remember, edited or pinned stays.`;
}

function providerText(provider: PrivacyFacts['provider']): string {
  if (provider === undefined) return 'No language model is configured, so nothing is sent to any provider.';
  return `To answer you, I send your message, the newest messages of the channel, files that you attach, and what I remember of you that may be used there to ${provider.name} (${provider.models.join(', ')}); to summarise and take notes, what was said. Anybody who can read a channel can have me retell what was said there; the same model reads it. What you say in a pause is left out.`;
}

/** Each with a right that it serves. */
const waysToControl: readonly string[] = [
  '`!memory show` and `!memory search` show what I have; `!memory forget`, `share` and `hide` change it.',
  '`!memory pause` stops all storing, `!memory pause here` takes one conversation off the record, `!memory mode ask` makes me ask you first, `!memory mode off` stops me from noticing anything by myself.',
  '`!memory export` sends you everything that I hold about you, `!memory erase` erases all of it.',
  'For anything beyond that, ask my operator.',
];
