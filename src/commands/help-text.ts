const commands = `\`!memory show\` shows what I remember about you
\`!memory search <words>\` finds what you said and what I keep about it
\`!memory remember <text>\` makes me remember something
\`!memory forget <words or id>\` makes me forget what contains these words, or the item with this id
\`!memory share <id>\` lets an item be used everywhere
\`!memory hide <id>\` keeps an item to our DM
\`!memory reset rolling\` clears the summary of this conversation
\`!memory help\` shows this

Each item says where I may use it: \`everywhere\`, \`here\` (the channel it comes from, and our DM) or \`dm\` (our DM only). The same commands exist as \`/memory\`, whose answers only you see.
In the menu of a message, under Apps: “Remember this” and “What do you know about this?”.`;

/** What the commands are, after what was not understood, if anything. */
export function helpText(reason?: string): string {
  return reason === undefined ? commands : `${reason}\n\n${commands}`;
}
