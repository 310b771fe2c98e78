import { afterAll, afterEach, describe, expect, it } from 'vitest';

import { deferred } from '../support/deferred.ts';
import type { MessagesBody, ModelServerRequest } from '../support/model-server.ts';
import { answeringBy, callsOf, toldIn, type Answers } from './model-calls.ts';
import { openStage } from './stage.ts';

const answers: Answers = {};
let guests = 0;

/** The extraction's answer that finds these quotes, each in the message that holds it. */
function finding(...quotes: readonly string[]): (body: MessagesBody) => { readonly json: unknown } {
  return (body) => {
    const lines = (body.messages?.[0]?.content[0]?.text ?? '').split('\n');
    const items = quotes.map((quote) => {
      const line = lines.find((each) => each.includes(quote)) ?? lines.find((each) => each.startsWith('- '));
      const messageId = /\[(?<id>\d+)\]/u.exec(line ?? '')?.groups?.['id'] ?? '';
      return { kind: 'fact', quote, messageId };
    });
    return { json: { items } };
  };
}

async function newcomer(): Promise<string> {
  guests += 1;
  return (await stage.sandbox.addPerson({ name: `guest${guests}` })).name;
}

async function shown(name: string): Promise<string> {
  return (await stage.ask(name, 'dm', '!memory show')).text;
}

/** The calls about a person's messages; others may be written to at the same time. */
function callsFor(name: string): readonly ModelServerRequest[] {
  return callsOf(stage, 'extraction').filter((call) => toldIn(call).includes(`] ${name}: `));
}

/** Resolves when all extraction that was under way for the person has come to its end: the next turn's call comes after it. */
async function settled(name: string): Promise<void> {
  delete answers.extraction;
  await stage.ask(name, 'dm', `That is all from ${name}.`);
  await expect
    .poll(() => callsOf(stage, 'extraction').some((call) => toldIn(call).includes(`all from ${name}`)))
    .toBe(true);
}

const stage = await openStage({
  environment: { DISCOCLAW_SUMMARY_TO_DURABLE_ENABLED: 'true', DISCOCLAW_SUMMARY_ENABLED: 'false' },
  model: answeringBy(answers),
});
afterEach(() => {
  delete answers.extraction;
});
afterAll(() => stage[Symbol.asyncDispose]());

describe('what is noticed after a turn', () => {
  it('is what a person says about themselves, three items a message at most, as private as the place [A2][V1]', async () => {
    const name = await newcomer();
    const said = ['I breed axolotls', 'I play the lute', 'I live in Riga', 'I prefer Rust', 'I keep bees'];
    answers.extraction = finding(...said);
    await stage.ask(name, '#dev', said.join('\n'));
    await expect.poll(() => callsFor(name).length).toBe(1);
    await settled(name);
    const show = await shown(name);
    expect(show).toContain('Durable memory (3 items):');
    expect(show).toMatch(
      /- \[fact\] I live in Riga \(src: summary, #dev, updated <t:\d+:d>\) · id \w+ · server/u,
    );
    expect(show).not.toMatch(/Rust|bees/u);
  });

  it('is nothing that was forgotten while the call was running [A4]', async () => {
    const name = await newcomer();
    const found = deferred<void>();
    answers.extraction = (body) => ({ ...finding('I work at Acme')(body), held: found.promise });
    await stage.ask(name, 'dm', '!memory remember I work at Acme');
    await stage.ask(name, 'dm', 'I work at Acme');
    await expect.poll(() => callsFor(name).length).toBe(1);
    expect((await stage.ask(name, 'dm', '!memory forget Acme')).text).toContain('Deprecated 1 item');
    found.resolve();
    await settled(name);
    expect(await shown(name)).toContain('Durable memory (0 items):');
  });

  it('is noticed after a kill where it was not before', async () => {
    await stage.startBuilt();
    const name = await newcomer();
    answers.extraction = () => 'silent';
    await stage.ask(name, '#dev', 'I breed axolotls');
    await expect.poll(() => callsFor(name).length).toBe(1);
    await stage.killBot();
    answers.extraction = finding('I breed axolotls');
    await stage.startBot();
    await expect.poll(() => shown(name)).toContain('[fact] I breed axolotls (src: summary, #dev');
    expect(callsFor(name)).toHaveLength(2);
  });
});
