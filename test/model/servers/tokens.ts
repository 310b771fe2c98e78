import llamaTokenizer from 'llama-tokenizer-js';

import type { MessagesBlock, MessagesBody } from '../../support/model-server.ts';

const pictureTokens = 1_000;
/** Of the marks that a template puts around a message. */
const messageTokens = 4;

const counted = new Map<string, number>();

/** By another way than the bot: a published tokenizer for what is plain, and 2.5 bytes to a token in other scripts. */
function tokensOf(text: string): number {
  const known = counted.get(text);
  if (known !== undefined) return known;
  const plain = text.replaceAll(/\P{ASCII}+/gu, '');
  const otherBytes = Buffer.byteLength(text) - plain.length;
  const tokens = llamaTokenizer.encode(plain, false).length + Math.ceil(otherBytes / 2.5);
  counted.set(text, tokens);
  return tokens;
}

function textIn(block: MessagesBlock): string {
  return block.text ?? JSON.stringify({ ...block, cache_control: undefined });
}

function tokensOfBlock(block: MessagesBlock): number {
  return block.type === 'image' || block.type === 'document' ? pictureTokens : tokensOf(textIn(block));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** Tokens of what a request gives the model. */
export function tokensIn({ system = [], tools = [], messages = [] }: MessagesBody): number {
  const ofMessages = messages.map(({ content }) => messageTokens + sum(content.map(tokensOfBlock)));
  return (
    sum([...system.map(tokensOfBlock), ...tools.map((tool) => tokensOf(JSON.stringify(tool)))]) +
    sum(ofMessages)
  );
}

/** What is left of a request where only its last tokens are read: a template has the rules first, then the tools. */
export function lastTokensOf(body: MessagesBody, max: number): MessagesBody {
  let left = max;
  const taken = (block: MessagesBlock): readonly MessagesBlock[] => {
    const tokens = tokensOfBlock(block);
    const share = Math.min(1, Math.max(0, left / tokens));
    left -= tokens;
    if (share === 1) return [block];
    if (block.text === undefined || share === 0) return [];
    return [{ ...block, text: block.text.slice(Math.floor(block.text.length * (1 - share))) }];
  };
  const lastOf = (blocks: readonly MessagesBlock[]) => blocks.toReversed().flatMap(taken).toReversed();
  const messages = (body.messages ?? [])
    .toReversed()
    .map((message) => ({ ...message, content: lastOf(message.content) }))
    .toReversed();
  const tools = body.tools?.filter((tool) => (left -= tokensOf(JSON.stringify(tool))) >= 0);
  return {
    ...body,
    messages,
    tools: tools?.length === 0 ? undefined : tools,
    system: lastOf(body.system ?? []),
  };
}
