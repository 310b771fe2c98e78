import { clip, clipAtWord, toSingleLine, sameItemForm, searchForm, terms } from '../../core/text.ts';
import { missedIn, toldByRules } from './catch-up.ts';
import {
  leastShare,
  memoryPieces,
  offlineLabel,
  recalledPassages,
  rememberedItems,
  type ReadRequest,
} from './read-request.ts';
import { actionIn, memoryWishIn, statementsIn, toSecondPerson } from './phrases.ts';

/** What the stand-in does: says something, or calls tools first. */
export type Reply = string | readonly Call[];

interface Call {
  readonly name: string;
  readonly input: Readonly<Record<string, string | undefined>>;
}

/** What the rules know beside the request: which share of a question's words a text has. */
export interface Knowledge {
  readonly shareOf: (question: string) => (text: string) => number;
}

const aboutMe =
  /\bwhat (?:all )?(?:do|did|have) you (?:know|remember|learned?|stored?|saved?)(?: about me)?(?: so far)?\s*\??$|\bwho am I\b|\bwhat(?:['’]?s| is) my name\b|\b(?:everything|all) you (?:know|remember)\b/iu;
const aboutUs =
  /\b(?:what|where) (?:were|was|are|have|did) we (?:just |been |last )*(?:talk\w*|discuss\w*|say\w*|doing|do|at)?|\bsummar(?:y|i[sz]e)\b|\bcatch me up\b/iu;
const greeting = /^\W*(?:hi|hey|hello|hiya|yo|good (?:morning|evening|day))\b/iu;
const thanks = /^\W*(?:thanks|thank you|thx|cheers)\b/iu;
const aboutSpeaker = /\b(?:I|me|my|mine)\b/iu;
const questionForm =
  /\?\s*$|^\W*(?:(?:who|what)s?|when|where|which|why|how|do|does|did|is|are|can|could|tell me|show me|write|explain)\b/iu;

const listed = '`!memory show` lists what I know about you.';
const tellMe = 'Say “remember that I like green tea”, then ask “what do I like?”; “help” says more.';

/** From memory alone, by rules: equal requests get equal replies [M2]. The label is not yet on the text. */
export function chatReply(request: ReadRequest, knowledge: Knowledge): Reply {
  const reply = replyToWords(request, knowledge);
  if (typeof reply !== 'string' || request.files.length === 0) return reply;
  const names = request.files.map((name) => `“${name}”`).join(', ');
  return `I see ${names}, but I cannot look into files.\n${reply}`;
}

function replyToWords(request: ReadRequest, knowledge: Knowledge): Reply {
  const { toolRuns, tools } = request;
  const { text, from } = request.message;
  if (toolRuns.length > 0) return afterTools(request, knowledge);
  const wish = memoryWishIn(text);
  if (wish !== undefined) {
    const { name, input, command } = wish;
    if (!tools.has(name))
      return `I cannot change memory from here. \`!memory ${clipAtWord(command, 200)}\` does it.`;
    return [{ name, input: 'target' in input ? forgetTarget(input.target, request, knowledge) : input }];
  }
  const action = actionIn(text);
  if (action !== undefined && tools.has('memory_control'))
    return [{ name: 'memory_control', input: { action } }];
  const missed = tools.has('read_channel') ? missedIn(text) : undefined;
  if (missed !== undefined) return [{ name: 'read_channel', input: missed }];
  const known = new Set(rememberedItems(request).map(({ text: item }) => formOf(item)));
  const statements = statementsIn(text).filter(({ quote }) => !known.has(formOf(quote)));
  if (statements.length > 0 && tools.has('remember_item'))
    return statements.map((input) => ({ name: 'remember_item', input }));

  const answer = answerTo(text, request, knowledge);
  if (answer !== undefined) return answer;
  const isQuestion = questionForm.test(text);
  if (isQuestion && tools.has('recall_memory') && knowledge.shareOf(text)(text) > 0)
    return [{ name: 'recall_memory', input: { query: clip(toSingleLine(text), 200) } }];
  const name = from === '' ? '' : `, ${from}`;
  if (thanks.test(text)) return `You are welcome${name}.`;
  if (greeting.test(text)) return `Hello${name}. ${tellMe}${hint(request)}`;
  if (isQuestion) return unknown(request);
  if (!/^\W*(?:I|my|we|our)\b/iu.test(text)) return `I did not understand that. ${tellMe}${hint(request)}`;
  return 'I have not kept that. Begin with “remember that” to make me keep it.';
}

/** What items that say the same have in common, whether in the first or the third person. */
function formOf(text: string): string {
  return sameItemForm(toSecondPerson(text) ?? text);
}

/** What rules and memory say to a message; `undefined` for nothing. */
function answerTo(text: string, request: ReadRequest, knowledge: Knowledge): string | undefined {
  const topic = topicOf(text);
  if (topic !== undefined) return topic;
  const isOpen = aboutSpeaker.test(text) && text.endsWith('?') && knowledge.shareOf(text)(text) === 0;
  if (isOpen || aboutMe.test(text)) return everythingKnown(request);
  if (aboutUs.test(text)) return conversationSoFar(request);
  const share = knowledge.shareOf(text);
  const fitting = memoryPieces(request)
    .map((piece) => ({ ...piece, share: share(piece.search) }))
    .toSorted((a, b) => b.share - a.share);
  const [best] = fitting;
  if (best === undefined || best.share < leastShare) return undefined;
  const alike = fitting.filter((piece) => piece.kind === best.kind && piece.share > best.share / 2);
  const lines = alike.slice(0, 3).map(({ told }) => told);
  return [...(best.share > 0.5 ? [] : ['Perhaps this:']), ...lines].join('\n');
}

/** What a real model would add, unless that was said a moment ago. */
function hint({ history }: ReadRequest): string {
  const lately = history.filter(({ name }) => name === undefined).slice(-6);
  return lately.some(({ text }) => text.includes(realModel)) ? '' : `\n${whatItIs} ${realModel}`;
}

function unknown(request: ReadRequest): string {
  return aboutSpeaker.test(request.message.text)
    ? `I don’t know that yet. Tell me, as in “remember that I like green tea”, and I will.${hint(request)}`
    : `I don’t know that: I know only what you have told me; more takes a real model. “help” says what I can do.${hint(request)}`;
}

/** The words themselves where they stand in an item, else the text of the item that fits them best. */
function forgetTarget(about: string, request: ReadRequest, { shareOf }: Knowledge) {
  const named = about.replace(/^["“'‘]|["”'’]$/gu, '').trim();
  const items = rememberedItems(request);
  if (items.some((item) => searchForm(item.text).includes(searchForm(named)))) return { target: named };
  const shareIn = shareOf(named);
  const scored = items.map(({ kind, text }) => ({ text, share: shareIn(`${kind} ${text}`) }));
  const [best] = scored.filter(({ share }) => share > 0).toSorted((a, b) => b.share - a.share);
  return { target: best?.text ?? named };
}

/** What came of the tools; then the answer to what the message asks besides telling something. */
function afterTools(request: ReadRequest, knowledge: Knowledge): string {
  const { toolRuns, message } = request;
  const told = toolRuns.map((run) => tellToolRun(run, request, knowledge));
  if (told.some((line) => line.startsWith('I will remember'))) told.push(listed);
  const question = message.text.split(/(?<=[.!?])\s+/u).at(-1) ?? '';
  const share = knowledge.shareOf(question);
  const isOther = toolRuns.every(({ call }) => share(inputOf(call.input, 'quote')) < leastShare);
  const isTelling = toolRuns.every(({ call }) => call.name === 'remember_item');
  if (question.endsWith('?') && isTelling && isOther && memoryWishIn(message.text) === undefined)
    told.push(answerTo(question, request, knowledge) ?? unknown(request));
  return told.join('\n');
}

function tellToolRun(
  { call, result }: ReadRequest['toolRuns'][number],
  request: ReadRequest,
  { shareOf }: Knowledge,
): string {
  const done = !result.isError;
  const named = (field: string): string => inputOf(call.input, field);
  switch (call.name) {
    case 'remember_item': {
      if (!done)
        return 'I could not save that. `!memory remember <text>` saves it as you write it, or says why not.';
      const isAsked = result.text.startsWith('Not stored yet');
      const told = toSecondPerson(named('quote'))?.replace(/^Y/u, 'y') ?? `“${named('quote')}”`;
      return `${isAsked ? 'Decide below whether I may remember' : 'I will remember'}: ${told}.`;
    }
    case 'forget_item':
      return `${done ? 'I forgot' : 'I have nothing that I could forget as'} “${named('target')}”. ${listed}`;
    case 'memory_control':
      if (named('action') === 'export')
        return 'The button below sends it to you as a file, and so does `!memory export`.';
      if (named('action') === 'erase')
        return 'Nothing is erased yet: the button below, or `!memory erase`, first shows how much that would be.';
      return done ? 'Done, as the line below says.' : `There is nothing to ${named('action')} now. ${listed}`;
    case 'read_channel':
      return toldByRules(result.text, request.message.from);
    default: {
      const found = done ? recalledPassages(result.text, request.message.from, shareOf(named('query'))) : [];
      if (found.length === 0) return unknown(request);
      return clipAtWord(['I looked through what was said before:', ...found].join('\n'), 1_500);
    }
  }
}

function inputOf(input: unknown, field: string): string {
  const value: unknown = Object.entries(input ?? {}).find(([name]) => name === field)?.[1];
  return typeof value === 'string' ? toSingleLine(value) : '';
}

function everythingKnown(request: ReadRequest): string {
  const told = memoryPieces(request).filter(({ kind }) => kind === 'item' || kind === 'profile');
  if (told.length === 0) return `I know nothing about you yet. ${tellMe}${hint(request)}`;
  return ['What I know about you:', ...told.map((piece) => `- ${piece.told}`)].join('\n');
}

function conversationSoFar({ sections, history }: ReadRequest): string {
  const summary = sections.get('conversation_summary') ?? [];
  const last = history.slice(-6).map(({ name, text }) => {
    return `- ${name ?? 'I'}: ${clipAtWord(toSingleLine(text.replaceAll(offlineLabel, '')), 160)}`;
  });
  if (summary.length + last.length === 0) return 'I have nothing of an earlier conversation here.';
  return ['What we talked about so far:', ...summary, ...last].join('\n');
}

const whatItIs =
  'I am not a language model, only an offline stand-in: I answer by rules, from what you told me.';
const realModel =
  'A real model would understand all that you say, answer and write: set `ANTHROPIC_API_KEY` (or `ANTHROPIC_BASE_URL`) in `.env` and start me again.';

/** A message with a word of each group (`&`), or after `only` with no others, gets the answer below. `|`: or. */
const table = `
export download copy & data memory memories everything
\`!memory export\` sends you all that I hold about you as a file, by direct message. \`!memory import\` takes it back.
openai google anthropic microsoft cloud third training internet
No: this stand-in sends nothing to anybody, and no model company sees what you say. With a real model, its provider gets your message and the memory that fits it. \`!memory privacy\` names who gets what.
who anyone anybody others other people & read see access tell share show look & you data memory memories messages items | private privacy safe trust spy spying & you this it my bot is | are do & recording record listening listen watching & you
Nobody’s memory is used for anybody else. What you say in a DM I use only in our DM, what you say in a private channel only there and in our DM, what you say in a public one only in that server and in our DM. The operator who runs me can read my files. \`!memory privacy\` says it all, and \`!memory pause\` stops all storing.
where long & store stored save saved keep kept data & data you memory
In files on the computer that I run on, in the folder that was named when I started. \`!memory privacy\` says what is stored, for how long and who can read it.
how can could wrong & correct change edit fix update wrong & something item items memory remember know you
\`!memory edit <id> <new text>\` corrects an item; \`!memory show\` lists the ids.
how can could where & delete remove forget erase undo & something thing things everything you me memory memories data item items | how can could & undo revert & that this it last
\`!memory forget <words>\` makes me forget what says these words, \`!memory undo\` takes back the last change, and \`!memory erase\` erases everything, after showing what that is.
memory & off disable without & channel channels server here
\`/settings memory off\` in that channel keeps it without memory, for everybody. \`!memory pause here\` does so for you alone.
you & answer reply talk speak respond listen & channel channels mention mentioned everything everyone
In a server I answer where I am mentioned or replied to. \`/settings answer everything\` makes me answer all in a channel, and \`DISCORD_CHANNEL_IDS\` keeps me to the channels that it names.
how can could & stop pause prevent keep & remembering noticing storing memory | only stop quit pause please it
\`!memory pause\` stops all storing until \`!memory resume\`, and \`!memory pause here\` in this conversation only. \`!memory mode ask\` has me ask before I keep anything.
how where can & see show list view find check search & remember know memory memories stored data items & you your memory
\`!memory show\` lists what I remember about you, \`!memory search <words>\` finds what you said, and \`!memory why <id>\` tells where an item comes from.
how & memory remember this it you & work works | do & you & have & memory memories
I keep short items about you, each with where and when you said it, and use them wherever they may be used: what you said in public in that server, what you said in our DM only there. \`!memory show\` shows them, and you can change or delete each.
how & remember teach learn & you something things
Say “remember that I like green tea”, or \`!memory remember <text>\`. What you plainly say about yourself, such as “I live in Oslo”, I keep too, and tell you so with a button to undo it. \`!memory forget <words>\` takes it back.
only remember note forget please something that it
Say what: “remember that I like green tea”, or “forget green tea”. \`!memory show\` lists what I know.
only forget delete erase wipe clear everything all of it my your memory data please
\`!memory erase\` first shows how much that would be, and then erases everything that I hold about you. \`!memory forget <words>\` takes one thing only.
ollama vllm openrouter local & model work works use run with you
With every server that speaks Anthropic’s Messages API: set \`ANTHROPIC_BASE_URL\` to its address and \`DISCOCLAW_MODEL\` to the model’s name in \`.env\`, and start me again. docs/configuration.md lists all settings.
how can could where & connect use add get set switch & model claude llm ai key
${realModel} docs/configuration.md lists all settings.
cost costs price pay free expensive & you this it bot
I am free, and so is this stand-in. A real model costs what its provider takes; \`!status\` shows what today has cost.
permission permissions rights intents & you bot need
docs/permissions.md lists the permissions, with a link that invites me with just these. I need the Message Content Intent too, to read messages that do not mention me.
add invite install get bring run host deploy & you bot & server discord guild
README.md says it under “On a real server”: make an application with a bot in the Discord developer portal, invite it with the link in docs/permissions.md, set \`DISCORD_TOKEN\` in \`.env\`, and start me again.
docs documentation manual readme & where there any the is
README.md is where to begin; docs/commands.md lists the commands and docs/configuration.md the settings. \`!memory help\` explains memory right here.
are is r & you u this & what who chatgpt gpt claude gemini bot robot human person real ai | who & made built wrote created owns runs & you
I am Discoclaw, a bot with a memory that you can see and correct. ${whatItIs} ${realModel}
what how & can & you i we & do ask say try help | can could need & help & you me | only help me please commands command menu start info
Tell me something about you, such as “remember that I like green tea”, then ask “what do I like?”, here or in another channel. \`!memory show\` lists what I know, \`!memory forget <words>\` deletes from it, and \`!memory help\` shows all commands.
love hate miss marry like & do will would & you & me | only how are you u doing today is it going i love hate so much
I am a handful of rules with a good memory: no feelings. Tell me something about you, and ask me for it later.
write compose translate draw generate tell make & poem story essay joke code letter email song picture sentence
That takes a real model; I am only a stand-in that answers by rules. ${realModel}
only bye goodbye good night see you later ciao
Good bye. What you told me will be here when you come back.
`;
const lines = table.trim().split('\n');

/** The answer to a question about the bot itself; `undefined` for any other message. */
function topicOf(text: string): string | undefined {
  const said = terms(text);
  // Single words say too little about a longer message.
  if (said.length === 0 || said.length > 14) return undefined;
  return lines.find(
    (_, at) => at % 2 === 1 && lines[at - 1]?.split(' | ').some((words) => fits(words, said)),
  );
}

function fits(words: string, said: readonly string[]): boolean {
  const groups = words.split(' & ').map(terms);
  return words.startsWith('only ')
    ? said.every((term) => groups[0]?.includes(term))
    : groups.every((group) => group.some((term) => said.includes(term)));
}
