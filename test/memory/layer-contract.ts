import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';

import type { Place, SessionKey } from '../../src/core/place.ts';
import { renderSection } from '../../src/core/section.ts';
import type { TurnContext } from '../../src/core/turn-context.ts';
import type { Deletion, MemoryLayer } from '../../src/memory/layer.ts';
import { createFileStore } from '../../src/storage/files/store.ts';
import { quickFileSystem } from '../storage/files/observed-file-system.ts';
import { aliceId, bobId, generalId, publicPlace } from '../support/incoming.ts';
import { channel, openSessions, silent, type Sessions } from '../support/sessions.ts';
import { unconditional } from '../../src/core/writes.ts';

/** A layer under test, and the public ways in which it is fed and asked. */
export interface LayerUnderTest {
  readonly layer: MemoryLayer;
  /** Has the layer take in a turn of one person: what was said is in the log already. */
  feed(turn: TurnContext): Promise<void>;
  /** All that the layer would tell in a turn about a word; by default its sections. */
  shows?(turn: TurnContext, word: string): Promise<string>;
  /** It holds nothing of its own, but finds what others hold. */
  readonly holdsNothing?: true;
}

export type OpenLayer = (sessions: Sessions) => LayerUnderTest;

const dev = channel('dev', '200000000000000002');
/** Words that stand nowhere else; each is said once. */
const words = { general: 'axolotl', dev: 'bassoon', bob: 'cockatoo' } as const;

/** Two people's words in the layer: Alice's in two channels, Bob's in one. */
async function openFed(open: OpenLayer, run: (fed: Fed) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'discoclaw-layer-'));
  const dirs = { dataDir: join(folder, 'data'), workspaceDir: join(folder, 'workspace') };
  const store = await createFileStore({
    ...dirs,
    clock: () => new Date(),
    logger: silent,
    fileSystem: quickFileSystem,
  });
  try {
    const sessions = openSessions(store);
    const under = open(sessions);
    const ids: Record<string, string> = {};
    for (const [name, place, userId] of [
      ['general', publicPlace, aliceId],
      ['dev', dev, aliceId],
      ['bob', publicPlace, bobId],
    ] as const) {
      const turn = turnOf(sessions, userId, place, `I breed ${words[name]} animals`);
      ids[name] = turn.messages[0]?.id ?? '';
      await sessions.log.recordUser(turn);
      await sessions.answer(turn, 'Noted.');
      await under.feed(turn);
    }
    await run({
      ...under,
      sessions,
      ids: { general: ids['general'] ?? '', dev: ids['dev'] ?? '', bob: ids['bob'] ?? '' },
      ledger: sessions.ledgerOver(under.layer.name === 'log' ? [] : [under.layer]),
      async shown(word, userId = aliceId, place = publicPlace) {
        const turn = turnOf(sessions, userId, place, `what about ${word}?`);
        if (under.shows !== undefined) return under.shows(turn, word);
        return (await under.layer.sections(turn)).map(renderSection).join('');
      },
      async exported(userId) {
        const texts: string[] = [];
        for await (const { path, text } of under.layer.export(userId)) texts.push(`${path}: ${text}`);
        return texts.join('\n');
      },
      /** The layer's, and the log's, from which it could be made again. */
      async erase(erasure) {
        await sessions.writes.run(unconditional(erasure.userId), async () => {
          await sessions.log.delete(erasure);
          await under.layer.delete(erasure);
        });
      },
      async onDisk() {
        const entries = await readdir(folder, { recursive: true, withFileTypes: true });
        const files = entries.filter((entry) => entry.isFile());
        const texts = files.map((entry) => readFile(join(entry.parentPath, entry.name), 'utf8'));
        return (await Promise.all(texts)).join('\n');
      },
    });
  } finally {
    await store.close();
    await rm(folder, { recursive: true, force: true });
  }
}

interface Fed extends LayerUnderTest {
  readonly sessions: Sessions;
  readonly ids: Record<keyof typeof words, string>;
  readonly ledger: ReturnType<Sessions['ledgerOver']>;
  readonly shown: (word: string, userId?: string, place?: Place) => Promise<string>;
  exported(userId: string): Promise<string>;
  erase(erasure: Extract<Deletion, { readonly kind: 'person' | 'conversations' }>): Promise<void>;
  onDisk(): Promise<string>;
}

function turnOf(sessions: Sessions, userId: string, place: Place, text: string): TurnContext {
  const speaker = { id: userId, name: userId === aliceId ? 'Alice' : 'Bob', isOwner: false };
  return { ...sessions.contextOf([text], place), speaker };
}

/** Where Alice's words are asked for: short-term lines are shown in other channels only. */
const inOtherPlaces = { general: dev, dev: publicPlace } as const;

async function shownAnywhere({ shown }: Fed, name: 'general' | 'dev'): Promise<string> {
  const word = words[name];
  const own = name === 'general' ? publicPlace : dev;
  return (await shown(word, aliceId, own)) + (await shown(word, aliceId, inOtherPlaces[name]));
}

const aliceInGeneral: SessionKey = { channelId: generalId, userId: aliceId };

/** What every layer must do [F5], each as a check that throws where it does not. */
export const contract: Readonly<Record<string, (open: OpenLayer) => Promise<void>>> = {
  'shows a person what is theirs, and nobody else [V2]': (open) =>
    openFed(open, async (fed) => {
      expect(await shownAnywhere(fed, 'general')).toContain(words.general);
      for (const place of [publicPlace, dev]) {
        expect(await fed.shown(words.general, bobId, place)).not.toContain(words.general);
        expect(await fed.shown(words.bob, aliceId, place)).not.toContain(words.bob);
      }
    }),

  'follows a deletion: it is shown nowhere and on no disk, what else there is stays [G5]': (open) =>
    openFed(open, async (fed) => {
      await fed.ledger.record({ kind: 'deleted', channelId: generalId, messageIds: [fed.ids.general] });
      expect(await shownAnywhere(fed, 'general')).not.toContain(words.general);
      expect(await fed.onDisk()).not.toContain(words.general);
      expect(await shownAnywhere(fed, 'dev')).toContain(words.dev);
      expect(await fed.onDisk()).toContain(words.bob);
    }),

  'follows an edit in the same way, and again without harm [G5]': (open) =>
    openFed(open, async (fed) => {
      const edit = { kind: 'edited', channelId: generalId, messageId: fed.ids.general, text: 'hi' } as const;
      await fed.ledger.record({ ...edit, authorId: aliceId });
      await fed.ledger.record(edit);
      expect(await shownAnywhere(fed, 'general')).not.toContain(words.general);
      expect(await fed.onDisk()).not.toContain(words.general);
      expect(await shownAnywhere(fed, 'dev')).toContain(words.dev);
    }),

  'exports all that it holds of a person, and nothing of another': (open) =>
    openFed(open, async (fed) => {
      const exported = await fed.exported(aliceId);
      if (fed.holdsNothing === true) expect(exported).toBe('');
      else for (const name of ['general', 'dev'] as const) expect(exported).toContain(words[name]);
      expect(exported).not.toContain(words.bob);
    }),

  'erases a person, from prompt and disk, and nobody else': (open) =>
    openFed(open, async (fed) => {
      const sessions = [aliceInGeneral, { channelId: dev.channelId, userId: aliceId }];
      await fed.erase({ kind: 'person', userId: aliceId, sessions });
      await fed.erase({ kind: 'person', userId: aliceId, sessions });
      for (const name of ['general', 'dev'] as const) {
        expect(await shownAnywhere(fed, name)).not.toContain(words[name]);
        expect(await fed.onDisk()).not.toContain(words[name]);
      }
      expect(await fed.exported(aliceId)).toBe('');
      expect(await fed.onDisk()).toContain(words.bob);
    }),

  'erases what was made of one conversation, and leaves the others': (open) =>
    openFed(open, async (fed) => {
      await fed.erase({ kind: 'conversations', userId: aliceId, sessions: [aliceInGeneral] });
      expect(await shownAnywhere(fed, 'general')).not.toContain(words.general);
      expect(await fed.onDisk()).not.toContain(words.general);
      expect(await shownAnywhere(fed, 'dev')).toContain(words.dev);
    }),
};
