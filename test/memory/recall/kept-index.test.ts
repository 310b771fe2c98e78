import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { deserialize } from 'node:v8';

import * as fc from 'fast-check';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { z } from 'zod';

import { logKey } from '../../../src/memory/log/session-state.ts';
import { createMessageSource } from '../../../src/memory/recall/messages.ts';
import { createRecall, type Recall } from '../../../src/memory/recall/recall.ts';
import { aliceId, generalId, publicPlace } from '../../support/incoming.ts';
import { dmPlace, openSessions, secretPlace, session, type Sessions } from '../../support/sessions.ts';
import { createTemporaryStores, type TemporaryStores } from '../../storage/files/temporary-store.ts';
import { quickFileSystem } from '../../storage/files/observed-file-system.ts';
import { runs } from '../../support/runs.ts';

let stores: TemporaryStores;
beforeEach(async () => {
  stores = await createTemporaryStores();
});
afterEach(() => stores.dispose());

/** Alice's messages in #general over files, as a start finds them, in blocks of eight lines. */
async function start(said: number, now: number) {
  const store = await stores.open({ fileSystem: quickFileSystem, blockLines: 8 });
  const sessions = openSessions(store);
  sessions.time.now = now;
  // Ids go on where the last run ended.
  sessions.contextOf(Array.from({ length: said }, () => ''));
  return { store, sessions, recall: recallOver(sessions) };
}

function recallOver({ log }: Pick<Sessions, 'log'>): Recall {
  return createRecall({ sources: [createMessageSource(log)], timeZone: 'UTC' });
}

/** An index of which nothing is kept. */
function freshRecall({ log }: Sessions): Recall {
  return recallOver({
    log: {
      ...log,
      async *blocks(of) {
        for await (const block of log.blocks(of))
          yield { ...block, kept: undefined, keep: () => Promise.resolve() };
      },
    },
  });
}

async function answersOf(recall: Recall, now: Date): Promise<unknown> {
  const speaker = { id: aliceId, isOwner: false };
  const asked = { scope: 'all', limit: 20, speaker, place: dmPlace, now, excluded: [] } as const;
  const found = [];
  for (const query of ['apple', 'banana edited', 'cherry yesterday', 'when did I say apples?'])
    found.push(await recall.search({ ...asked, queries: [query] }));
  return found;
}

const logPath = () => join(stores.dataDir, logKey(session));
const keptFiles = () => readdirSync(dirname(logPath())).filter((name) => name.endsWith('.index'));

const words = ['apple', 'banana', 'cherry'];
const action = fc.record({
  kind: fc.constantFrom(
    ...(['say', 'say', 'say', 'edit', 'delete', 'mark', 'search'] as const),
    ...(['restart', 'forget', 'line edited', 'line gone', 'kept gone'] as const),
  ),
  word: fc.constantFrom(...words),
  which: fc.nat(40),
});

/** What a person does to the log's file while the bot is off. */
function editByHand(kind: 'line edited' | 'line gone' | 'kept gone', which: number): void {
  if (kind === 'kept gone') {
    for (const name of keptFiles().slice(which % 3)) rmSync(join(dirname(logPath()), name));
    return;
  }
  const lines = readFileSync(logPath(), 'utf8').split('\n');
  const at = which % lines.length;
  const changed = kind === 'line gone' ? [] : [(lines[at] ?? '').replace(/apple|banana|cherry/u, 'apple')];
  writeFileSync(logPath(), lines.toSpliced(at, 1, ...changed).join('\n'));
}

it('an index of which parts were kept finds what a fresh one finds, in the same order, whatever happened to the log', async () => {
  let kept = 0;
  await fc.assert(
    fc
      .asyncProperty(fc.array(action, { minLength: 10, maxLength: 40, size: 'max' }), async (actions) => {
        let said = 0;
        const compared: [kept: unknown, fresh: unknown][] = [];
        let opened = await start(0, Date.parse('2026-01-15T10:00:00Z'));
        const restart = async (meanwhile: () => void) => {
          const { now } = opened.sessions.time;
          await opened.store.close();
          meanwhile();
          opened = await start(said, now);
        };
        for (const [index, { kind, word, which }] of actions.entries()) {
          const { sessions, recall } = opened;
          const { log, time, writes } = sessions;
          const id = String(400_000_000_000_000_000n + BigInt((which % Math.max(1, said)) + 1));
          time.now += which * 2 * 60_000;
          if (kind === 'say') {
            const texts = Array.from({ length: 1 + (which % 5) }, (_, each) => `${word} ${index} ${each}`);
            said += texts.length;
            await log.recordUser(sessions.contextOf(texts, which % 7 === 0 ? secretPlace : publicPlace));
          } else if (kind === 'edit') await log.edit(generalId, id, `${word} edited ${index}`);
          else if (kind === 'delete') await log.remove(generalId, [id]);
          else if (kind === 'mark') {
            const change = {
              kind: 'edited',
              channelId: generalId,
              messageId: id,
              text: 'apple marked',
            } as const;
            const messages = await log.affected(session, change);
            if (messages.length > 0)
              await writes.run(aliceId, () =>
                log.follow({ kind: 'withdrawn', session, messages, cause: change }, 'withdraw'),
              );
          } else if (kind === 'forget') {
            await log.dropBefore(session, sessions.clock().toISOString(), which);
            await recall.erase({ userId: aliceId, sessions: [], isWhole: false });
          } else if (kind === 'search')
            compared.push([
              await answersOf(recall, sessions.clock()),
              await answersOf(freshRecall(sessions), sessions.clock()),
            ]);
          else if (kind === 'restart') await restart(() => undefined);
          else if (said > 0) await restart(() => editByHand(kind, which));
        }
        const { sessions, recall } = opened;
        for (const [ofKept, fresh] of compared) expect(ofKept).toEqual(fresh);
        const found = await answersOf(recall, sessions.clock());
        expect(found).toEqual(await answersOf(freshRecall(sessions), sessions.clock()));
        // What is kept is what the next start goes by.
        await restart(() => undefined);
        kept += said === 0 ? 0 : keptFiles().length;
        expect(await answersOf(opened.recall, sessions.clock())).toEqual(found);
        await opened.store.close();
      })
      .beforeEach(() => rmSync(stores.dataDir, { recursive: true, force: true })),
    { numRuns: runs(60) },
  );
  expect(kept).toBeGreaterThan(runs(60));
});

it('what was deleted or made room is in no file, be it kept of its block or not [S7]', async () => {
  const { store, sessions, recall } = await start(0, Date.parse('2026-01-15T10:00:00Z'));
  const context = sessions.contextOf(Array.from({ length: 20 }, (_, index) => `apple unword${index}`));
  await sessions.log.recordUser(context);
  await store.written();
  await answersOf(recall, sessions.clock());
  expect(keptFiles()).toHaveLength(2);
  await sessions.log.remove(generalId, [context.messages[3]?.id ?? '']);
  expect(keptFiles()).toHaveLength(1);
  expect(await answersOf(recall, sessions.clock())).not.toEqual([]);
  expect(stores.everything()).not.toContain('unword3 ');
  await sessions.log.erase({ userId: aliceId, sessions: [session], isWhole: true });
  expect(keptFiles()).toEqual([]);
  expect(stores.everything()).not.toContain('unword');
});

it('a start that finds the index on disk makes nothing of a text again but of the newest', async () => {
  const first = await start(0, Date.parse('2026-01-15T10:00:00Z'));
  await first.sessions.log.recordUser(first.sessions.contextOf(Array.from({ length: 20 }, () => 'apple')));
  await first.store.written();
  expect(await linesRead(first)).toBe(20);
  expect(await linesRead(await start(20, Date.parse('2026-01-15T10:00:00Z')))).toBe(4);
});

it('has another form for every change to what is made of a text: then count up `form` in messages.ts, and take the new hash', async () => {
  const { store, sessions, recall } = await start(0, Date.parse('2026-01-15T10:00:00Z'));
  const texts = [
    'Going to lighthouses?',
    'Мою кошку зовут Марта',
    '私は寿司が好き',
    'last week: went, gone',
    'İstanbul, Hauptstraße, القَهْوَة, le thé',
    ...words,
    'x',
  ];
  await sessions.log.recordUser(sessions.contextOf(texts));
  await store.written();
  await answersOf(recall, sessions.clock());
  const kept: unknown = deserialize(readFileSync(join(dirname(logPath()), keptFiles()[0] ?? '')).subarray(8));
  const { form, made } = z.object({ form: z.string(), made: z.unknown() }).parse(kept);
  const hash = createHash('sha256').update(JSON.stringify(made)).digest('hex').slice(0, 12);
  expect([form.split(' ')[0], hash]).toEqual(['5', 'aa41bc36a434']);
});

/** How many lines a search reads of which no index is kept. The store is closed then. */
async function linesRead({ store, sessions, recall }: Awaited<ReturnType<typeof start>>): Promise<number> {
  let lines = 0;
  const counting = recallOver({
    log: {
      ...sessions.log,
      async *blocks(of) {
        for await (const block of sessions.log.blocks(of))
          yield {
            ...block,
            async *entries() {
              for await (const entry of block.entries()) {
                lines += 1;
                yield entry;
              }
            },
          };
      },
    },
  });
  await answersOf(counting, sessions.clock());
  await answersOf(recall, sessions.clock());
  await store.close();
  return lines;
}
