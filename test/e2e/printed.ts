/** Milliseconds for what is printed before anything is asked: long, since the machine may be busy with other things. */
const patienceMs = 120_000;

/** What a program has printed so far, and a way to wait for more. */
export function createPrinted() {
  let output = '';
  const listeners = new Set<() => void>();
  return {
    add: (chunk: Buffer | string): void => {
      output += chunk.toString('utf8');
      for (const listener of listeners) listener();
    },
    text: () => output,
    /** Resolves with all that was printed once it contains the text; rejects where the program has ended before, with its last words. */
    waitFor: (text: string, ended: Promise<string>): Promise<string> =>
      new Promise((resolve, reject) => {
        const settle = (finish: () => void): void => {
          clearTimeout(timer);
          listeners.delete(check);
          finish();
        };
        const check = (): void => {
          if (output.includes(text)) settle(() => resolve(output));
        };
        const fail = (reason: string): void =>
          settle(() => reject(new Error(`${reason} before "${text}" was printed:\n${output}`)));
        const timer = setTimeout(() => fail(`${patienceMs} ms passed`), patienceMs);
        listeners.add(check);
        void ended.then(fail);
        check();
      }),
  };
}
