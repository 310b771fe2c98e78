import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { MessageView } from '../../src/sandbox/people/views.ts';
import {
  startTranscriptionServer,
  type TranscriptionAnswer,
  type TranscriptionServer,
} from '../support/transcription-server.ts';
import { footerIn, withFooter } from './footers.ts';
import { command, idIn } from './memory-talk.ts';
import { answeringBy, callsOf, newestOf, toldIn, type Answers } from './model-calls.ts';
import { openStage, type Stage } from './stage.ts';

const answers: Answers = {};
/** What a recording says is what its file holds, but for these. */
const others = new Map<string, TranscriptionAnswer>([['wrong key', { status: 401 }]]);
let server: TranscriptionServer;
let stage: Stage;

beforeAll(async () => {
  server = await startTranscriptionServer(({ file }) => {
    const text = file?.bytes.toString() ?? '';
    return others.get(text) ?? { text };
  });
  stage = await openStage({
    model: answeringBy(answers),
    environment: {
      DISCOCLAW_TRANSCRIBE_URL: server.url,
      DISCOCLAW_TRANSCRIBE_KEY: 'sk-voice',
      DISCOCLAW_TRANSCRIBE_PRICE: '0.60',
      DISCOCLAW_DAILY_COST_USD: '1000',
      DISCOCLAW_SUMMARY_TO_DURABLE_ENABLED: 'true',
      DISCOCLAW_SUMMARY_EVERY_N_TURNS: '1',
      DISCOCLAW_REFLECTION_ENABLED: 'false',
    },
  });
});
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

async function record(as: string, words: string): Promise<MessageView> {
  const file = { name: 'voice-message.ogg', text: words, seconds: 3 };
  return stage.sandbox.say({ as, in: 'dm', text: '', attachments: [file] });
}

/** Somebody says something, and this is the answer. */
async function say(as: string, words: string): Promise<MessageView> {
  return stage.answerTo(await record(as, words));
}

/** The model stores what it is quoted, and says what the tool said. */
function remembering(quote: string): void {
  answers.chat = ({ messages = [] }) => {
    const last = messages.at(-1)?.content ?? [];
    const result = last.find(({ type }) => type === 'tool_result');
    if (result !== undefined) return { text: `It said: ${JSON.stringify(result['content'])}` };
    return { toolUse: [{ name: 'remember_item', input: { kind: 'preference', quote } }] };
  };
}

describe('a voice message to the bot [G7]', () => {
  it('is answered as words, which stand under the answer, in the log and in later prompts, over a restart', async () => {
    const { name } = await stage.newcomer();
    const answer = await say(name, 'Which tea is green?');
    expect(footerIn(answer)).toBe('-# 🎤 heard: "Which tea is green?"');
    const [request] = server.requests.slice(-1);
    expect(request?.fields).toEqual({ model: 'whisper-1', response_format: 'json' });
    expect(request?.headers.authorization).toBe('Bearer sk-voice');
    expect(toldIn(newestOf(stage, 'chat'))).toContain(
      'Which tea is green?\n[voice message: voice-message.ogg · 0 min 3 s · heard]\n</message>',
    );
    const kept = (await stage.kept()).find(({ path }) => path.endsWith('messages.jsonl'));
    expect(kept?.text).toMatch(/Which tea is green\?.*"heard":\s*true/u);
    await stage.restart();
    await stage.ask(name, 'dm', 'And black?');
    expect(toldIn(newestOf(stage, 'chat'))).toContain(
      `${name}: Which tea is green? [voice message: voice-message.ogg · 0 min 3 s · heard]`,
    );
    const { text: status } = await stage.ask(stage.info.owner.name, 'dm', '!status');
    expect(status).toMatch(/by purpose: .*transcription 0 in, 0 out, \$0\.0/u);
  });

  it('gives neither a command nor an item: what the model would store is asked about, `(heard)`', async () => {
    const { name } = await stage.newcomer();
    remembering('I like oolong');
    const answer = await say(name, 'I like oolong.');
    delete answers.chat;
    const asked = await withFooter(stage, answer, '💭 May I remember: "I like oolong." (heard)?');
    expect(await command(stage, '!memory', name, 'dm', 'show')).not.toContain('oolong');
    await stage.sandbox.click({ as: name, message: asked.id, label: '✅ Yes' });
    const show = () => command(stage, '!memory', name, 'dm', 'show');
    await expect.poll(show).toMatch(/I like oolong\. \(src: discord, heard/u);
    expect(await command(stage, '!memory', name, 'dm', `why ${idIn(await show())}`)).toContain(
      'in a voice message that I heard',
    );
    await say(name, '!memory erase');
    expect(toldIn(newestOf(stage, 'chat'))).toContain('!memory erase\n[voice message');
  });

  it('goes from all files and from under the answer when it is deleted', async () => {
    const { name } = await stage.newcomer();
    remembering('I bury gold under the oak');
    const said = await record(name, 'I bury gold under the oak');
    const answer = await stage.answerTo(said);
    delete answers.chat;
    await withFooter(stage, answer, '💭 May I remember: "I bury gold under the oak" (heard)?');
    await expect.poll(() => stage.pathsWith('gold under the oak')).not.toEqual([]);
    await stage.sandbox.delete({ message: said.id });
    await expect.poll(() => stage.pathsWith('gold under the oak')).toEqual([]);
    await expect
      .poll(async () =>
        (await stage.sandbox.messages({ in: answer.channelId, from: 'bot' }))
          .map(({ text }) => text)
          .join('\n'),
      )
      .not.toContain('gold');
  });

  it('that cannot be heard gets one clear line without a model, and does not enter the conversation', async () => {
    const { name } = await stage.newcomer();
    const calls = callsOf(stage, 'chat').length;
    const { text } = await say(name, 'wrong key');
    expect(text).toMatch(/^⚠️ I could not hear your voice message: [^\n]+$/u);
    expect(callsOf(stage, 'chat')).toHaveLength(calls);
    await stage.ask(name, 'dm', 'Hello?');
    expect(toldIn(newestOf(stage, 'chat'))).not.toContain('could not hear');
  });
});
