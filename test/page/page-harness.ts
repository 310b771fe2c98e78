import { createCommandSet } from '../../src/commands/commands.ts';
import { createStatusCommand } from '../../src/commands/status-command.ts';
import { StoreError } from '../../src/core/errors.ts';
import { startPage, type PageOptions } from '../../src/page/page.ts';
import { createSignIn, type PagePath, type PagePerson } from '../../src/page/sign-in.ts';
import { createHarness, dmPlace } from '../commands/harness.ts';
import { aliceId, bobId } from '../support/incoming.ts';
import { freePort } from '../support/free-port.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { plainWrites } from '../support/plain-writes.ts';
import { facts } from '../support/status-facts.ts';
import { RecordingLogger } from '../support/recording-logger.ts';

export const alice: PagePerson = { id: aliceId, name: 'Alice', isOwner: false };
export const bob: PagePerson = { id: bobId, name: 'Bob', isOwner: true };

type Fields = Readonly<Record<string, string>>;
type Init = Omit<RequestInit, 'headers'> & { readonly headers?: Fields };

/** The page over real commands and items, at a port of this machine; time stands still unless a test turns it. */
export async function openPage(
  options: Partial<Pick<PageOptions, 'command' | 'url' | 'dmOf' | 'hasAccess' | 'isAlone' | 'hasMcp'>> & {
    readonly beforeAnswer?: () => Promise<void>;
  } = {},
) {
  let now = new Date('2026-01-15T10:00:00Z');
  const logger = new RecordingLogger();
  const { command: ofMemory, ...harness } = createHarness();
  const status = createStatusCommand(
    () => Promise.resolve({ ...facts, quarantined: [] }),
    () => Promise.resolve(undefined),
  );
  const commands = createCommandSet([ofMemory, status], {}, logger);
  const port = await freePort();
  const disk = new MemoryStore();
  const signIn = createSignIn({ store: disk, writes: plainWrites(), clock: () => now });
  const linkPath = async (person: PagePerson, path?: PagePath) =>
    `/sign-in/${await signIn.link(person, path)}`;
  const page = await startPage({
    signIn,
    isAlone: true,
    port,
    host: '127.0.0.1',
    async command(request) {
      harness.tick();
      if (request.elsewhere !== undefined) await options.beforeAnswer?.();
      return commands.command({ ...request, work: { userId: request.speaker.id } });
    },
    parseCommand: (text: string) => commands.parse(text),
    dmOf: (userId) =>
      Promise.resolve(
        userId === aliceId
          ? dmPlace
          : { audience: 'dm', channelId: '200000000000000010', homeId: '200000000000000010' },
      ),
    hasAccess: () => Promise.resolve(true),
    hasMcp: false,
    isOwner: () => false,
    clock: () => now,
    logger,
    ...options,
  });
  const url = `http://127.0.0.1:${port}`;

  /** Asks as one browser does: with its cookies, and for forms with where they come from. */
  function openBrowser() {
    let cookie = '';
    async function ask(path: string, { headers, ...init }: Init = {}) {
      const response = await fetch(new URL(path, url), {
        ...init,
        redirect: 'manual',
        headers: { cookie, ...headers },
      });
      const set = response.headers.get('set-cookie');
      if (set !== null) [cookie = ''] = set.split(';');
      return response;
    }
    const post = (path: string, fields: Fields = {}, headers: Fields = { origin: url }) =>
      ask(path, { method: 'POST', body: new URLSearchParams(fields), headers });
    const text = async (path: string) => (await ask(path)).text();
    const csrf = async () => /name="_csrf" value="([^"]+)"/u.exec(await text('/'))?.[1] ?? '';
    return {
      ask,
      post,
      text,
      csrf,
      cookie: () => cookie,
      takeCookie: (other: string) => void (cookie = other),
      /** Gives a command by a form, and resolves with the page that follows it. */
      async give(line: string, fields: Fields = {}) {
        const answer = await post('/do', { _csrf: await csrf(), line: `memory ${line}`, ...fields });
        return answer.status === 303 ? text(answer.headers.get('location') ?? '') : answer.text();
      },
      async signIn(person: PagePerson) {
        return post(await linkPath(person));
      },
    };
  }

  return {
    page,
    url,
    harness,
    logger,
    commands,
    openBrowser,
    /** A browser in which somebody is signed in. */
    async browserOf(person: PagePerson) {
      const browser = openBrowser();
      await browser.signIn(person);
      return browser;
    },
    pass: (ms: number) => void (now = new Date(now.getTime() + ms)),
    fillDisk: () => void (disk.update = () => Promise.reject(new StoreError('no room', 'page.json'))),
    linkPath,
    signIn,
    [Symbol.asyncDispose]: () => page.close(),
  };
}
