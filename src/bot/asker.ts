import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';

export class InputEndedError extends Error {
  override readonly name = 'InputEndedError';
}

export type Asker = ReturnType<typeof createAsker>;

/** Asks questions in the terminal or on standard input, line by line. */
export function createAsker() {
  const isTerminal = process.stdin.isTTY && process.stdout.isTTY;
  let isHidden = false;
  const output = new Writable({
    write(chunk, _, done) {
      if (!isHidden) process.stdout.write(chunk);
      done();
    },
  });
  const reader = createInterface({ input: process.stdin, output, terminal: isTerminal });
  // The line editor of a terminal takes Ctrl-C for itself.
  reader.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  const lines = reader[Symbol.asyncIterator]();

  async function answer(question: string, options: { readonly isSecret: boolean }): Promise<string> {
    reader.setPrompt(`${question} `);
    reader.prompt();
    isHidden = options.isSecret;
    const { done, value } = await lines.next();
    if (isHidden || !isTerminal) process.stdout.write('\n');
    isHidden = false;
    if (done === true) throw new InputEndedError('the input has ended');
    return value.trim();
  }

  return {
    say,
    /** Does not show the answer; trims it. @throws {InputEndedError} */
    secret: (question: string) => answer(question, { isSecret: true }),
    /** An empty line takes the preset. @throws {InputEndedError} */
    async confirm(question: string, preset: boolean): Promise<boolean> {
      for (;;) {
        const word = await answer(`${question} (${preset ? 'Y/n' : 'y/N'})`, { isSecret: false });
        if (word === '') return preset;
        if (/^y(?:es)?$/iu.test(word)) return true;
        if (/^no?$/iu.test(word)) return false;
        say('Please answer yes or no.');
      }
    },
    close: () => reader.close(),
  };
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
