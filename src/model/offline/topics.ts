import { terms } from '../../core/text.ts';

export const whatItIs =
  'I am not a language model, only an offline stand-in: I answer by rules, from what you told me.';
/** What a real model would add, and how to connect one. */
export const realModel =
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
export function topicOf(text: string): string | undefined {
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
