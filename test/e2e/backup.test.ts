import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { mkdir, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, describe, expect, inject, it } from 'vitest';

import { runBackup, runRestore } from '../../src/bot/backup.ts';
import { captured } from '../support/captured.ts';
import { runProcess, type Outcome } from '../support/processes.ts';
import { openStage } from './stage.ts';

/** In namespaces of its own, which not every machine lets one have. */
const canMount = spawnSync('unshare', ['-Urm', 'mount', '--bind', '/tmp', '/tmp']).status === 0;

const people = 8;
/** Of a person: no more than are shown on one page. */
const mostItems = 6;

const stage = await openStage();
afterAll(() => stage[Symbol.asyncDispose]());

const foldersOf = (folder: string) => ({
  DISCOCLAW_DATA_DIR: join(folder, 'data'),
  DISCOCLAW_WORKSPACE_DIR: join(folder, 'workspace'),
});

/** `npm run backup` or `restore`, over the bot's folders or others. */
function runScript(words: readonly string[], folder = stage.folder): Promise<Outcome> {
  const [script = '', ...more] = words;
  return runProcess('npm', ['run', '--silent', script, '--', ...more], {
    cwd: new URL('../..', import.meta.url).pathname,
    env: { PATH: process.env['PATH'], HOME: folder, ...foldersOf(folder) },
  });
}

/** The same without a process of its own. */
function restore(file: string, folder: string, isReplacing = false): Promise<Outcome> {
  return captured(() => runRestore(file, isReplacing, foldersOf(folder)));
}

const backup = () => join(stage.folder, 'backup.zip');

/** The folder of another bot. */
async function elsewhere(name: string): Promise<string> {
  const folder = join(stage.folder, name);
  await mkdir(folder);
  return folder;
}

const startOver = (folder: string) => stage.startBot(foldersOf(folder));

const shownTo = async (name: string): Promise<string> =>
  (await stage.ask(name, `@${name}`, '!memory show')).text;

async function textOfAll(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const texts = files.map(({ parentPath, name }) => readFile(join(parentPath, name), 'utf8'));
  return (await Promise.all(texts)).join('\n');
}

describe('a backup [O4]', () => {
  it('made while people talk and restored elsewhere has all that was acknowledged before, nothing half', async () => {
    await stage.writeFile('workspace/USER.md', '# Me\n- Keeps bees\n');
    const names = Array.from({ length: people }, (_, index) => `person${index}`);
    for (const name of names) await stage.sandbox.addPerson({ name });
    const acknowledged = new Map<string, string[]>(names.map((name) => [name, []]));
    const over = new AbortController();
    const talk = async (name: string): Promise<void> => {
      for (let number = 0; number < mostItems && !over.signal.aborted; number += 1) {
        const said = `I own kettle ${name} ${number}`;
        const { text } = await stage.ask(name, `@${name}`, `!memory remember ${said}`);
        if (text.startsWith('Remembered')) acknowledged.get(name)?.push(said);
      }
    };
    const talking = names.map(talk);
    await expect
      .poll(() => [...acknowledged.values()].every(({ length }) => length > 0), { timeout: 120_000 })
      .toBe(true);
    const before = new Map([...acknowledged].map(([name, said]) => [name, [...said]]));
    const made = await runScript(['backup', backup()]);
    over.abort();
    expect(made).toMatchObject({ code: 0 });
    expect(made.output).toMatch(/backup\.zip: \d+ files, as they were at /u);
    expect((await stat(backup())).mode & 0o777).toBe(0o600);
    expect(await readdir(join(stage.folder, 'data'))).not.toContainEqual(expect.stringMatching(/^\.backup/u));
    await Promise.all(talking);
    await stage.stopBot();

    const folder = await elsewhere('other');
    const restored = await runScript(['restore', backup()], folder);
    expect(restored).toMatchObject({ code: 0 });
    expect(await readFile(join(folder, 'workspace/USER.md'), 'utf8')).toBe('# Me\n- Keeps bees\n');
    await startOver(folder);
    for (const [name, said] of before) {
      const shown = await shownTo(name);
      for (const text of said) expect(shown).toContain(text);
    }
    expect(stage.bot().output()).not.toContain('quarantine');
    await stage.stopBot();
  });

  it('that replaces what stands there brings back nothing that a person had erased since', async () => {
    await stage.startBot();
    const { id } = await stage.ask('person0', '@person0', '!memory erase');
    const clicked = await stage.sandbox.click({ as: 'person0', message: id, label: 'Erase everything' });
    const told = async () => (await stage.sandbox.interaction({ id: clicked.id })).followUps.at(-1)?.text;
    await expect.poll(told, { timeout: 60_000 }).toMatch(/^Erased: everything/u);
    // Who comes back has files again: what they had erased stays erased.
    await stage.ask('person0', '@person0', '!memory remember I have a teapot');
    const running = await restore(backup(), stage.folder, true);
    expect(running).toMatchObject({ code: 2 });
    expect(running.errors).toContain('in use by process');
    await stage.stopBot();
    const refused = await restore(backup(), stage.folder);
    expect(refused).toMatchObject({ code: 2 });
    expect(refused.errors).toMatch(/is there already, and nothing was changed. Add --replace/u);
    const restored = await restore(backup(), stage.folder, true);
    expect(restored).toMatchObject({ code: 0 });
    expect(restored.output).toContain('Erased again what one person had erased since.');
    const data = join(stage.folder, 'data');
    const names = await readdir(data, { recursive: true });
    expect([...names, await textOfAll(data)].join('\n')).not.toContain(stage.info.people['person0']);
    await stage.startBot();
    expect(await shownTo('person0')).not.toContain('kettle');
    expect(await shownTo('person1')).toContain('kettle person1 0');
    await stage.stopBot();
    expect(await textOfAll(join(stage.folder, 'data'))).not.toContain('kettle person0 ');
  });

  it('that a kill ends before it has erased again has the next start of the bot do it', async () => {
    await stage.startBot();
    await stage.ask('person0', '@person0', '!memory remember I own kettle person0 again');
    const { id } = await stage.ask('person0', '@person0', '!memory erase');
    await stage.sandbox.click({ as: 'person0', message: id, label: 'Erase everything' });
    const data = join(stage.folder, 'data');
    await expect.poll(() => textOfAll(data), { timeout: 60_000 }).not.toContain('kettle person0 again');
    await stage.stopBot();
    const asked = foldersOf(stage.folder);
    // Who erases reads the configuration again.
    const hasBegun = () => readdirSync(data).includes('users');
    await rm(join(data, 'users'), { recursive: true });
    const killed = new Proxy(asked, {
      get(target, name, receiver) {
        if (hasBegun()) throw new Error('killed');
        return Reflect.get(target, name, receiver);
      },
    });
    expect((await captured(() => runRestore(backup(), true, killed))).errors).toContain('killed');
    expect(await textOfAll(data)).toContain('kettle person0 0');
    await stage.startBot();
    expect(await shownTo('person0')).not.toContain('kettle');
    expect(await shownTo('person1')).toContain('kettle person1 0');
    await stage.stopBot();
    expect(await textOfAll(data)).not.toContain('kettle person0 ');
  });

  it('is put back by the copy of a damaged list that a killed one had set aside, and not at all where nobody can know it', async () => {
    const list = join(stage.folder, 'data/erasures.json');
    const good = await readFile(list);
    const aside = join(stage.folder, 'data/.replaced-0123456789ab');
    await mkdir(aside);
    await writeFile(join(aside, 'erasures.json'), good.subarray(0, 40));
    await writeFile(join(aside, 'erasures.json.bak'), good);
    for (const name of [list, `${list}.bak`]) await rm(name, { force: true });
    const restored = await restore(backup(), stage.folder, true);
    expect(restored).toMatchObject({ code: 0 });
    expect(restored.output).toContain('Erased again what one person had erased since.');
    for (const [text, line] of [
      ['{"version": 1, "li', 'is damaged'],
      ['{"version": 9}', 'Restore with the version that wrote it'],
    ] as const) {
      await writeFile(list, text);
      await rm(`${list}.bak`, { force: true });
      const before = await textOfAll(stage.folder);
      const refused = await restore(backup(), stage.folder, true);
      expect(refused).toMatchObject({ code: 2 });
      expect(refused.errors).toContain(line);
      expect(await textOfAll(stage.folder)).toBe(before);
    }
    await writeFile(list, good);
  });

  it.runIf(canMount)('is put in the place of folders below which volumes are mounted', async () => {
    const data = join(stage.folder, 'data');
    const [users, inner] = [join(stage.folder, 'volume of users'), join(stage.folder, 'volume-of-one')];
    const one = stage.info.people['alice'] ?? '';
    for (const folder of [users, inner]) await mkdir(folder);
    await mkdir(join(users, one, 'notebook'), { recursive: true });
    await writeFile(join(users, 'old'), 'old words');
    await writeFile(join(inner, 'old'), 'old words');
    const script = `mount --bind '${users}' '${data}/users' && mount --bind '${inner}' '${data}/users/${one}/notebook' && exec "$0" "$@"`;
    const words = [process.execPath, inject('program'), 'restore', backup(), '--replace'];
    const restored = await runProcess('unshare', ['-Urm', 'sh', '-c', script, ...words], {
      cwd: stage.folder,
      env: { PATH: process.env['PATH'], HOME: stage.folder, ...foldersOf(stage.folder) },
    });
    expect(restored).toMatchObject({ code: 0 });
    const text = await textOfAll(users);
    expect(text).toContain('kettle person1 0');
    expect(text + (await textOfAll(inner))).not.toContain('old words');
    const hidden = (await readdir(stage.folder, { recursive: true })).filter((name) => name.includes('/.re'));
    expect(hidden.filter((name) => !name.startsWith('workspace'))).toEqual([]);
  });

  it('that cannot be put in place leaves everything as it was, and says so', async () => {
    const folder = await elsewhere('blocked');
    for (const name of ['data/users', 'workspace']) await mkdir(join(folder, name), { recursive: true });
    await writeFile(join(folder, 'data/users/old'), 'old words');
    await writeFile(join(folder, 'workspace/SOUL.md'), 'old soul');
    const before = await textOfAll(folder);
    // Nothing can be moved into it.
    const failing = async (): Promise<void> => {
      const names = await readdir(join(folder, 'workspace'));
      const staged = names.find((name) => name.startsWith('.restoring'));
      const [mark] = /[0-9a-f]{12}$/u.exec(staged ?? '') ?? [];
      if (mark !== undefined) await writeFile(join(folder, 'workspace', `.replaced-${mark}`), '');
      else await failing();
    };
    const [refused] = await Promise.all([restore(backup(), folder, true), failing()]);
    expect(refused).toMatchObject({ code: 2 });
    expect(refused.errors).toContain('everything is as it was');
    expect(await textOfAll(folder)).toBe(before);
  });

  it('is refused in clear words where it cannot be made or read, and nothing is changed', async () => {
    const damaged = join(stage.folder, 'damaged.zip');
    const bytes = await readFile(backup());
    // Here and there in what the files hold; the list of them at the end is as it was.
    await writeFile(
      damaged,
      bytes.map((byte, at) => (at % 50 === 0 && at > 500 && at < bytes.length / 2 ? ~byte : byte)),
    );
    // What the last file held has another checksum in that list.
    const changed = Buffer.from(bytes);
    const checksumAt = changed.lastIndexOf('PK\u0001\u0002') + 16;
    changed.writeUInt8(255 - changed.readUInt8(checksumAt), checksumAt);
    await writeFile(join(stage.folder, 'changed.zip'), changed);
    await writeFile(join(stage.folder, 'text.zip'), 'no zip at all');
    const folder = await elsewhere('empty');
    const backUp = (file: string) => captured(() => runBackup(file, foldersOf(stage.folder)));
    const inDatabase = { ...foldersOf(folder), DISCOCLAW_STORE: 'postgres://localhost/bot' };
    for (const [outcome, line] of [
      [await captured(() => runBackup(join(folder, 'backup.zip'), inDatabase)), 'is a PostgreSQL database'],
      [await backUp(backup()), 'There is a file'],
      [await backUp(join(stage.folder, 'none/backup.zip')), 'There is no folder'],
      [await backUp(join(stage.folder, 'data/backup.zip')), 'each backup would hold all before it'],
      [await restore(join(stage.folder, 'text.zip'), folder), 'cannot be read as a backup'],
      [await restore(damaged, folder), 'cannot be read as a backup, and nothing was changed'],
      [await restore(join(stage.folder, 'changed.zip'), folder), 'is not what it was'],
    ] as const) {
      expect(outcome.errors).toContain(line);
      expect(outcome.code).toBe(2);
    }
    for (const name of ['data', 'workspace']) {
      const left = await readdir(join(folder, name), { recursive: true });
      expect(left.filter((each) => !each.startsWith('.owner'))).toEqual([]);
    }
  });
});
