import type { CommandReply, ShownAnswer, ShownPart } from '../core/commands.ts';
import { inputOf } from '../core/model.ts';
import { dataLine, type PartSize } from '../core/section.ts';
import { messageReferenceIn } from '../core/snowflake.ts';
import { amount, dollars } from '../core/text.ts';
import { mayUse, reachOf } from '../core/visibility.ts';
import type { AnswerProvenance, SizedAnswer } from '../memory/provenance.ts';
import { linesOf, linkTo, present, shownTime } from './answer-lines.ts';
import type { MemoryCall } from './memory-ports.ts';
import { findAnswer, ownWordsIn } from './memory-why.ts';

const noneYet =
  'I have not answered you since I was started, or nothing of it may be stored: I know this of my last 20 answers to you, and of none in a pause.';
const noSuchAnswer =
  'I know no such answer, or no longer: `!memory answers` lists my newest answers to you, since I was started.';

/** How large the prompts of the newest answers were, and what they took; or all parts of the one that is named [Y2a]. */
export async function showAnswers(call: MemoryCall, id: string | undefined): Promise<CommandReply> {
  const { ports, speaker, view } = call;
  const [all, gone] = await Promise.all([ports.answersTo(speaker.id), ports.goneChannels()]);
  const mayName = ({ place }: SizedAnswer) =>
    mayUse({ ownerId: speaker.id, ...reachOf(place) }, view, speaker.id);
  const named = all.filter(mayName);
  if (id !== undefined) return showAnswer(call, named, gone, id);
  const hidden = all.length - named.length;
  const answers = named.map((answer) => shownAnswer(answer, gone));
  return {
    text: linesOf(
      answers.length === 0 && hidden === 0 && noneYet,
      answers.length > 0 && 'My newest answers to you, and what I was given for them:',
      answers.map(({ title, took, parts }) => `- ${title}: ${took} · most of it ${largestOf(parts)}`),
      hidden > 0 && `${hidden} that I don't name here`,
      answers.length > 0 &&
        '-# `!memory answers <link>` tells all parts of one, `!memory why <link>` what of your memory was in it.',
    ),
    data: { kind: 'answers', answers },
  };
}

/** One of them, by the id or link of the answer or of a message that it answers. */
async function showAnswer(
  call: MemoryCall,
  answers: readonly SizedAnswer[],
  gone: ReadonlySet<string>,
  text: string,
): Promise<CommandReply> {
  const id = messageReferenceIn(text)?.id;
  const channelIds = answers.map(({ place }) => place.channelId);
  const found = id === undefined ? undefined : await findAnswer(call, channelIds, id);
  if (found === undefined || found.answer === 'unknown') return { text: noSuchAnswer };
  const { channelId, answer: provenance } = found;
  const answer = answers.find(({ at, place }) => at === provenance.at && place.channelId === channelId);
  if (answer === undefined) return { text: noSuchAnswer };
  const shown = shownAnswer(answer, gone);
  const isForAskerOnly = call.view.audience === 'dm';
  const own = isForAskerOnly && !gone.has(channelId) ? await ownParts(call, answer, provenance) : undefined;
  return {
    text: linesOf(
      shown.title,
      shown.took,
      shown.parts.map((part) => `- ${part.title}: ${sizeText(part)}`),
    ),
    data: { kind: 'answers', answers: [{ ...shown, own }] },
  };
}

/** The message that was answered, and what of the asker's memory stood in the prompt, as `why` tells it. */
async function ownParts(
  call: MemoryCall,
  { place: { channelId }, messageIds }: SizedAnswer,
  provenance: AnswerProvenance,
): Promise<ShownAnswer['own']> {
  const session = { channelId, userId: call.speaker.id };
  const said = await Promise.all(messageIds.map((id) => call.ports.logged(session, id)));
  const texts = said.map((text) => text ?? 'It is no longer there.');
  const parts = await ownWordsIn(call, channelId, provenance);
  return [{ title: 'Your message', texts }, ...parts].filter((part) => part.texts.length > 0);
}

function shownAnswer(answer: SizedAnswer, gone: ReadonlySet<string>): ShownAnswer {
  const { at, place, messageIds, usage, cost, maxChars } = answer;
  const id = messageIds.at(-1) ?? '';
  const where =
    place.guildId === undefined ? 'in our DM' : `in #${dataLine(place.channelName ?? 'a channel')}`;
  const link = gone.has(place.channelId) ? 'which is deleted' : linkTo({ ...place, messageId: id });
  const parts = shownParts(answer.parts);
  const inPrompt = parts.filter(({ name }) => name !== 'tools' && name !== 'tool_results');
  const input = inputOf(usage);
  const cached = input === 0 ? 0 : Math.round((100 * usage.cacheReadTokens) / input);
  return {
    id,
    title: `${shownTime(new Date(at))} ${where}, ${link}`,
    took: present(
      `${amount(sumOf(inPrompt))} of ${amount(maxChars)} characters beside tools`,
      `${amount(input)} input tokens, ${cached}% from the cache`,
      `${amount(usage.outputTokens)} output tokens`,
      cost === undefined ? 'cost not known' : dollars(cost),
    ).join(' · '),
    parts,
  };
}

/** Parts of one name are one. */
function shownParts(parts: readonly PartSize[]): readonly ShownPart[] {
  return [...new Set(parts.map(({ name }) => name))].map((name) => {
    const same = parts.filter((part) => part.name === name);
    const budget = same.reduce((sum, part) => sum + (part.budget ?? Number.NaN), 0);
    return {
      name,
      title: titles[name] ?? `${name.slice(0, 1).toUpperCase()}${name.slice(1).replaceAll('_', ' ')}`,
      characters: sumOf(same),
      budget: Number.isNaN(budget) ? undefined : budget,
    };
  });
}

function sumOf(parts: readonly PartSize[]): number {
  return parts.reduce((sum, { characters }) => sum + characters, 0);
}

function sizeText({ characters, budget }: PartSize): string {
  return budget === undefined ? amount(characters) : `${amount(characters)} of ${amount(budget)}`;
}

const mostNamed = 3;

function largestOf(parts: readonly ShownPart[]): string {
  return parts
    .toSorted((a, b) => b.characters - a.characters)
    .slice(0, mostNamed)
    .map(({ title, characters }) => `${title} ${amount(characters)}`)
    .join(', ');
}

/** Where the name of a part says too little. */
const titles: Partial<Record<PartSize['name'], string>> = {
  soul: 'SOUL.md',
  user_profile: 'USER.md',
  notes: 'MEMORY.md',
  durable_items: 'Items',
  message: 'Your message',
  recent_elsewhere: 'Recent exchanges elsewhere',
};
