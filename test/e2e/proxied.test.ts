import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { MessageView } from '../../src/sandbox/people/views.ts';
import { offerHead } from '../../src/core/tool.ts';
import { startPluralKit } from '../support/pluralkit-server.ts';
import { postCopy } from '../support/proxy-copy.ts';
import { answersTo } from './answers-to.ts';
import { answeringBy, newestOf, toldIn } from './model-calls.ts';
import { obedientModel } from './obedient-model.ts';
import { openStage, type Stage } from './stage.ts';

const place = '#general';
let kit: Awaited<ReturnType<typeof startPluralKit>>;
let stage: Stage;

/** Bob writes with a tag, and the proxy posts it again; the record is PluralKit's. */
async function writes(
  text: string,
  {
    as = 'bob',
    isCopyFirst = false,
    embeds,
  }: {
    readonly as?: string;
    readonly isCopyFirst?: boolean;
    readonly embeds?: readonly object[];
  } = {},
): Promise<{ readonly original: MessageView; readonly copy: MessageView }> {
  const { sandbox, info } = stage;
  const original = await sandbox.say({ as, in: place, text: `A: ${text}` });
  const deletes = () => sandbox.delete({ message: original.id });
  if (!isCopyFirst) await deletes();
  kit.storeNext({ original: original.id, sender: info.people[as] ?? '' });
  const copy = await postCopy(sandbox, { in: place, text, embeds });
  if (isCopyFirst) await deletes();
  return { original, copy };
}

const logOf = (person: string): Promise<string> =>
  stage.readFile(
    `data/sessions/${stage.info.channels['general'] ?? ''}/${stage.info.people[person] ?? ''}/messages.jsonl`,
  );

/** The newest message of the bot with such a text, once it is there. */
async function told(containing: string, after: Pick<MessageView, 'id'>): Promise<MessageView> {
  return stage.sandbox.waitForReply({ in: place, after: after.id, containing });
}

async function press(as: string, { id }: MessageView, label: string, outcome: string): Promise<void> {
  const clicked = await stage.sandbox.click({ as, message: id, label });
  const said = async () => {
    const { answer, followUps } = await stage.sandbox.interaction({ id: clicked.id });
    return [answer, ...followUps].map((message) => message?.text).join('\n');
  };
  await expect.poll(said).toContain(outcome);
}

const call = (tool: string, input: object): string => `\n> CALL ${tool} ${JSON.stringify(input)}`;

beforeAll(async () => {
  kit = await startPluralKit();
  stage = await openStage({
    environment: { DISCOCLAW_PLURALKIT_URL: kit.url, DISCORD_AUTO_REPLY_CHANNEL_IDS: '' },
    model: answeringBy({ chat: obedientModel }),
  });
});

afterAll(async () => {
  await stage[Symbol.asyncDispose]();
  await kit[Symbol.asyncDispose]();
});

describe('what a proxy posts for somebody [G2a]', () => {
  it.each([false, true])(
    'is answered once, as theirs, in either order (the copy first: %s)',
    async (isCopyFirst) => {
      const { original, copy } = await writes('@Discoclaw I drink tea', { isCopyFirst });
      const answer = await stage.answerTo(copy);
      expect(answer.replyTo).toBe(copy.id);
      await stage.keeps(copy.id);
      expect(await answersTo(stage.sandbox, copy)).toHaveLength(1);
      expect(await answersTo(stage.sandbox, original)).toEqual([]);
      expect(await logOf('bob')).not.toContain(original.id);
      expect(toldIn(newestOf(stage, 'chat'))).toContain('Anna');
    },
  );

  it('replies to what the original replied to, and its words are the speaker’s own [M5a]', async () => {
    const { copy: first } = await writes('@Discoclaw I live in Oslo');
    const answer = await stage.answerTo(first);
    const card = {
      author: { name: 'Discoclaw' },
      description: `**[Reply to:](https://discord.com/channels/1/${stage.info.channels['general'] ?? ''}/${answer.id})** Understood.`,
    };
    const { copy } = await writes(
      `I prefer rum${call('remember_item', { kind: 'preference', quote: 'I prefer rum' })}`,
      { embeds: [card] },
    );
    expect((await told('I prefer rum', copy)).replyTo).toBe(copy.id);
    const { copy: forgetting } = await writes(
      `@Discoclaw forget it${call('forget_item', { target: 'I prefer rum' })}`,
    );
    const offer = await told(`${offerHead}\nForget this:`, forgetting);
    expect(await stage.ask('bob', place, '!memory show')).toMatchObject({
      text: expect.stringContaining('rum'),
    });
    await press('bob', offer, 'Do it', 'Forgotten.');
  });

  it('carries out commands, but removes nothing without a button that only they can press', async () => {
    const remembered = await writes('!memory remember I like cake');
    expect((await told('I like cake', remembered.copy)).replyTo).toBe(remembered.copy.id);
    const { copy } = await writes('!memory forget cake');
    const question = await told('Did you ask for this? "!memory forget cake"', copy);
    await press('alice', question, 'Yes, do it', 'Only the person');
    await press('bob', question, 'Yes, do it', 'I like cake');
    expect((await stage.ask('bob', place, '!memory show')).text).not.toContain('I like cake');
  });
});
