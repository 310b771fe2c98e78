import { createInterface } from 'node:readline';

/** Asks whoever sets the bot up. */
export interface Asker {
  say(text: string): void;
  /** An answer that nobody sees on the screen, trimmed. @throws {InputEndedError} */
  secret(question: string): Promise<string>;
  /** @throws {InputEndedError} */
  confirm(question: string, preset: boolean): Promise<boolean>;
  close(): void;
}

/** Nobody answers any more. */
export class InputEndedError extends Error {
  override readonly name = 'InputEndedError';
}

/** In a terminal by its prompts, otherwise line by line: an empty line is what is preset. */
export async function createAsker(): Promise<Asker> {
  return process.stdin.isTTY && process.stdout.isTTY ? terminalAsker() : lineAsker();
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

async function terminalAsker(): Promise<Asker> {
  const { confirm, isCancel, password } = await import('@clack/prompts');
  return {
    say,
    async secret(message) {
      const answer = await password({ message });
      if (isCancel(answer)) throw new InputEndedError('cancelled');
      return answer.trim();
    },
    async confirm(message, preset) {
      const answer = await confirm({ message, initialValue: preset });
      if (isCancel(answer)) throw new InputEndedError('cancelled');
      return answer;
    },
    close: () => undefined,
  };
}

function lineAsker(): Asker {
  const reader = createInterface({ input: process.stdin });
  const lines = reader[Symbol.asyncIterator]();
  async function answer(question: string): Promise<string> {
    process.stdout.write(`${question} `);
    const { done, value } = await lines.next();
    process.stdout.write('\n');
    if (done === true) throw new InputEndedError('the input has ended');
    return value.trim();
  }
  return {
    say,
    secret: answer,
    async confirm(question, preset) {
      for (;;) {
        const word = (await answer(`${question} (${preset ? 'Y/n' : 'y/N'})`)).toLowerCase();
        if (word === '') return preset;
        if (/^(?:y|yes)$/u.test(word)) return true;
        if (/^(?:n|no)$/u.test(word)) return false;
        say('Please answer yes or no.');
      }
    },
    close: () => reader.close(),
  };
}
