import type { CommandReply, ShownAnswer, ShownPart } from '../core/commands.ts';
import { inputOf } from '../core/model.ts';
import type { PartSize } from '../core/section.ts';
import { amount, dollars } from '../core/text.ts';
import type { SizedAnswer } from '../memory/provenance.ts';
import { discordTime } from '../core/time.ts';
import { present, whereOf } from './answer-lines.ts';
import type { MemoryCall } from './memory-ports.ts';
import { ownWordsIn } from './memory-why.ts';

const noneYet =
  'I have not answered you since I was started, or nothing of it may be stored: I know this of my last 20 answers to you, and of none in a pause.';
const onPage = 'What I was given for my answers is on your page: `/memory page` links to it.';

/**
 * For the page: how large the prompts of the newest answers were, and what they took; of the one that is named, by a
 * message that it answers, also the person's own words in it [Y2a].
 */
export async function showAnswers(call: MemoryCall, id: string | undefined): Promise<CommandReply> {
  const { memory, speaker } = call;
  const gone = await memory.goneChannels();
  const all = await memory.provenance.sizesOf(speaker.id);
  if (id === undefined) {
    const answers = all.map((answer) => shownAnswer(answer, gone));
    return { text: answers.length === 0 ? noneYet : onPage, data: { kind: 'answers', answers } };
  }
  const answer = all.find(({ messageIds }) => messageIds.includes(id));
  const answers = answer === undefined ? [] : [await withOwnWords(call, answer, gone)];
  return { text: onPage, data: { kind: 'answers', answers } };
}

/** With the message that was answered, and what of the asker's memory stood in the prompt, as `why` tells it. */
async function withOwnWords(
  call: MemoryCall,
  answer: SizedAnswer,
  gone: ReadonlySet<string>,
): Promise<ShownAnswer> {
  const { memory, speaker } = call;
  const shown = shownAnswer(answer, gone);
  const { channelId } = answer.place;
  const session = { channelId, userId: speaker.id };
  const provenance = gone.has(channelId) ? undefined : await memory.provenance.find(session, shown.id);
  if (provenance === undefined || provenance === 'unknown') return shown;
  const logged = await Promise.all(answer.messageIds.map((id) => memory.sessionLog.message(session, id)));
  const texts = logged.map((text) => text ?? 'It is no longer there.');
  const parts = await ownWordsIn(call, channelId, provenance);
  return {
    ...shown,
    own: [{ title: 'Your message', texts }, ...parts].filter((part) => part.texts.length > 0),
  };
}

function shownAnswer(answer: SizedAnswer, gone: ReadonlySet<string>): ShownAnswer {
  const { at, place, messageIds, usage, cost, maxChars } = answer;
  const id = messageIds.at(-1) ?? '';
  const where = whereOf({ ...place, messageId: id }, gone.has(place.channelId));
  const parts = shownParts(answer.parts);
  const inPrompt = parts.filter(({ name }) => name !== 'tools' && name !== 'tool_results');
  const input = inputOf(usage);
  const cached = input === 0 ? 0 : Math.round((100 * usage.cacheReadTokens) / input);
  return {
    id,
    title: `${discordTime(new Date(at), 'f')} ${where}`,
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

/** Where the name of a part says too little. */
const titles: Partial<Record<PartSize['name'], string>> = {
  soul: 'SOUL.md',
  user_profile: 'USER.md',
  notes: 'MEMORY.md',
  durable_items: 'Items',
  message: 'Your message',
  recent_elsewhere: 'Recent exchanges elsewhere',
};
