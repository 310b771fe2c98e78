import type { CommandReply } from '../core/commands.ts';
import { sessionOf } from '../core/turn-context.ts';
import type { CaptureMode, Pause } from '../memory/settings/person-settings.ts';
import { nearestNames } from '../core/text.ts';
import { localMoment } from '../core/time.ts';
import { timeZonesNamed } from '../core/time-zone.ts';
import { brieflyQuoted, counted, linesOf, linkReply } from './answer-lines.ts';
import type { MemoryCall, PrivacyFacts } from './memory-ports.ts';

const modeTexts: Readonly<Record<CaptureMode, string>> = {
  auto: 'Mode `auto`: I notice what you say about yourself and keep it. `!memory mode off` ends that.',
  ask: 'Mode `ask`: I ask you before I keep what you say about yourself; until you say yes it is in no item, summary or note, and after seven days the question is gone. `!memory proposals` lists what waits. `!memory mode auto` or `off` changes that.',
  off: 'Mode `off`: I notice nothing of what you say; only `!memory remember` and “Remember this” make items. The log and the summary of our conversation go on; `!memory pause` stops them. `!memory mode auto` changes this.',
};

/** Shows or sets what is noticed of the person [K9]. What was said in mode `off` is not looked through later. */
export async function setMode(
  { speaker, work, memory: { people, proposals } }: MemoryCall,
  mode: CaptureMode | undefined,
): Promise<CommandReply> {
  await (mode === undefined ? people.get(speaker.id) : people.set(work, { mode }));
  const now = await people.mode(speaker.id);
  const waiting = now === 'ask' ? 0 : (await proposals.list(speaker.id)).length;
  const verb = waiting === 1 ? 'waits' : 'wait';
  return {
    text: linesOf(
      modeTexts[now],
      waiting > 0 &&
        `${counted(waiting, 'proposal')} still ${verb} for your yes or no: \`!memory proposals\`.`,
    ),
  };
}

/** Shows or sets whether the person gets notices about what was noticed [K6]. */
export async function setNotices(
  { speaker, work, memory: { people } }: MemoryCall,
  notices: 'on' | 'off' | undefined,
): Promise<CommandReply> {
  const settings = await (notices === undefined ? people.get(speaker.id) : people.set(work, { notices }));
  return {
    text:
      settings?.notices === 'off'
        ? 'Notices are off: I store without a line under my answer. What was changed or removed I tell you all the same.'
        : 'Notices are on: a small line under my answer tells you what I stored.',
  };
}

const pauseTexts: Readonly<Record<Pause['scope'], string>> = {
  everywhere:
    'Paused: from now on I store nothing that you say, and nothing of my answers to you, anywhere. What I remember from before stays, and I still use it. `!memory resume` ends the pause.',
  here: 'Paused here: this conversation is off the record. I store nothing that you say here, and nothing of my answers, until `!memory resume` or 30 minutes without a message from you here.',
};

/** Pauses everything, or this conversation only, from the command on [K9]. */
export async function pauseMemory(call: MemoryCall, scope: Pause['scope']): Promise<CommandReply> {
  const holding = await call.memory.people.pause(call.work, scope, call.at);
  return { text: pauseTexts[holding?.scope ?? scope] };
}

/** Ends the pause, here and everywhere [K9]. */
export async function resumeMemory(call: MemoryCall): Promise<CommandReply> {
  const ended = await call.memory.people.resume(call.work, call.at);
  if (ended === undefined) return { text: 'Nothing is paused here: I store what you tell me.' };
  const where = ended.scope === 'here' ? 'This conversation is on the record again' : 'Resumed';
  return {
    text: `${where}: I store what you tell me from now on. What was said in the pause stays unstored.`,
  };
}

/** Why nothing may be stored here, as the answer that says so. Rejects with `StoreError`. */
export async function refusalToStore(
  call: Pick<MemoryCall, 'place' | 'speaker' | 'at'> & {
    readonly memory: { people: Pick<MemoryCall['memory']['people'], 'pauseIn'> } & Pick<
      MemoryCall['memory'],
      'placeSettings'
    >;
  },
): Promise<CommandReply | undefined> {
  const { people, placeSettings } = call.memory;
  if (await placeSettings.isMemoryOff(call.place))
    return {
      text: 'Memory is switched off in this channel, so nothing was saved. Say it in another channel or in our DM.',
    };
  if ((await people.pauseIn(sessionOf(call), call.at)) === undefined) return undefined;
  return { text: 'Your memory is paused here, so nothing was saved. Say it again after `!memory resume`.' };
}

/** What the person has restricted, for `show`; without a text where nothing. */
export async function restrictions(call: MemoryCall) {
  const { people } = call.memory;
  const pause = (await people.pauseIn(sessionOf(call), call.at))?.scope;
  const mode = await people.mode(call.speaker.id);
  const ofMode = mode === 'auto' ? undefined : modeTexts[mode];
  return { text: pause === undefined ? ofMode : pauseTexts[pause], data: { mode, pause } };
}

/** Shows or sets the person's zone, in which their days count [D7]. */
export async function setTimeZone(call: MemoryCall, written: string | undefined): Promise<CommandReply> {
  const { speaker, work, at, memory } = call;
  const before = await memory.people.timeZoneOf(speaker.id);
  const nowIn = (zone: string): string => `it is ${localMoment(new Date(at), zone)} there`;
  if (written === undefined) {
    const isOwn = (await memory.people.get(speaker.id))?.timeZone !== undefined;
    const whose = isOwn ? '' : ', the default';
    return {
      text: `Your days count by the time in ${before}${whose}: ${nowIn(before)}. \`!memory timezone <name>\` sets yours, such as \`Europe/Berlin\`.`,
    };
  }
  const [timeZone, ...others] = timeZonesNamed(written);
  if (timeZone === undefined)
    return {
      text: `I know no time zone ${brieflyQuoted(written)}. Did you mean ${nearestNames(written, Intl.supportedValuesOf('timeZone'))}?`,
    };
  if (others.length > 0) {
    const choices = [timeZone, ...others].map((zone) => `- \`!memory timezone ${zone}\`: ${nowIn(zone)}`);
    return {
      text: linesOf(`${brieflyQuoted(written)} is what several zones are called. Which is yours?`, choices),
    };
  }
  await memory.people.set(work, { timeZone });
  // What comes again keeps its hour there [RM6].
  await memory.reminders.refresh(speaker.id);
  return { text: `Your days count by the time in ${timeZone} from now on: ${nowIn(timeZone)}.` };
}

/** A link to the asker's own page [Y1]. */
export async function givePageLink({ speaker, discord }: MemoryCall): Promise<CommandReply> {
  const url = await discord.pageLink(speaker);
  return linkReply(url, 'your memory', '`/memory panel` shows your memory here');
}

/** Where the owner's own text wants the facts. */
const factsMark = '{{facts}}';

/** Where the owner has written none. */
const ownText = `I am an AI with a memory: I keep what you tell me, so that I can use it when we talk again. You can see all of it, correct it, pause it and have it deleted, at any time and without giving a reason.

${factsMark}

**Questions and requests**
Write to the person who runs me; my profile on Discord shows who that is.`;

/** What is stored, where, how long, who can read it and who else gets it [K12]. */
export async function showPrivacy({ memory, privacyFacts }: MemoryCall): Promise<CommandReply> {
  const written = (await memory.workspace.privacyText())?.trim() ?? '';
  return { text: (written || ownText).split(factsMark).join(factsText(await privacyFacts())) };
}

function factsText(facts: PrivacyFacts): string {
  const { provider, hearingHost, proxyHost, hasMcp, isInDatabase, layers, quotaMegabytes, retentionDays } =
    facts;
  return linesOf(
    '**What I store about you**',
    '- What you write to me and what I answer, with time and place, a log for each conversation. Of files that you attach I keep the names only.',
    layers.durable &&
      `- Items: short sentences about you that you told me to remember${layers.extraction ? ', that you asked for in passing, or that I noticed in what you say about yourself' : ' or said of yourself'}.`,
    layers.summary && '- A summary of each conversation.',
    layers.recentHours !== undefined &&
      `- What you asked in public channels and what I answered, for ${layers.recentHours} hours.`,
    `- Notes: on each conversation, and in our direct messages a notebook that we write together${layers.reflection ? '; I look back on a conversation and update them' : ''}.`,
    '- Your reminders, until a week after they came.',
    '- Your settings for all this.',
    'I mask what has the form of a key or token, card and bank numbers, passwords in addresses, and one odd or quoted word right after "password:", "PIN is" and the like. I promise no more than that, so keep secrets elsewhere.',
    '',
    '**Where, and how long**',
    `${isInDatabase === true ? "In my operator's database, which my account there can read." : "In files on my operator's machine, readable only by my account there."} ${retentionDays === 0 ? 'They stay' : `${retentionText(retentionDays)} The rest stays`} until you delete them. \`!memory erase\` deletes everything at once and keeps only the time of that, so that I never use older messages again. All of yours together take ${quotaMegabytes} MB at most; beyond that your oldest messages go. What you delete or edit in Discord I delete or change too, and \`!memory forget\` takes what you name off the disk.`,
    '',
    '**Who can read it**',
    'You, with the commands below, and my operator. What you said in a direct message I use in our direct messages only; what you said in a private or age-restricted channel, only there, as long as nobody new can read it; what you said in a public channel, only in that server. All of it I may use in our direct messages too, and what you have me remember by command in a public channel, or share, in every server that we share. What I remember of you is used for nobody else.',
    '',
    '**Who else gets it**',
    `Discord carries all messages. ${providerText(provider)} I train no model with what you say.`,
    hearingHost !== undefined &&
      `Voice messages to me go to the server at ${hearingHost}, which writes down what is said. I keep those words as if you had written them, and never the recording.`,
    proxyHost !== undefined &&
      `If you write through a proxy such as PluralKit, I ask ${proxyHost} whose message its copy is, by the id of that message.`,
    hasMcp === true &&
      'Another assistant to which you give a token of your page reads there what I may tell you in our direct messages, until you revoke it; the page lists when.',
    '',
    '**What you can do**',
    '`!memory show` and `!memory search` show what I have; `!memory forget`, `share` and `hide` change it.',
    '`!memory pause` stops all storing, `!memory pause here` takes one conversation off the record, `!memory mode ask` makes me ask you first, `!memory mode off` stops me from noticing anything by myself.',
    '`!memory export` sends you everything that I hold about you, `!memory erase` erases all of it.',
    'For anything beyond that, ask my operator.',
  );
}

/** How long messages are kept [K15]. */
export function retentionText(days: number): string {
  return `Messages older than ${counted(days, 'day')} are deleted automatically, with what I made from them alone; what you had me remember, edited or pinned stays.`;
}

function providerText(provider: PrivacyFacts['provider']): string {
  if (provider === undefined) return 'No language model is configured, so nothing is sent to any provider.';
  return `To answer you, I send your message, the newest messages of the channel, files that you attach, and what I remember of you that may be used there to ${provider.name} (${provider.models.join(', ')}); to summarise and take notes, what was said. Anybody who can read a channel can have me retell what was said there; the same model reads it. What you say in a pause is left out.`;
}
