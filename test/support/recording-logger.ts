import type { Logger } from '../../src/core/logger.ts';

type Level = 'debug' | 'info' | 'warn' | 'error';
type Data = Readonly<Record<string, unknown>> | undefined;

/** A logger that keeps its lines, for tests that look at them. */
export class RecordingLogger implements Logger {
  readonly lines: { readonly level: Level; readonly event: string; readonly data: Data }[] = [];

  /** The events of warnings. */
  get warnings(): readonly string[] {
    return this.#eventsOf('warn');
  }

  /** The events of errors. */
  get errors(): readonly string[] {
    return this.#eventsOf('error');
  }

  readonly debug = (event: string, data?: Data): void => this.#record('debug', event, data);
  readonly info = (event: string, data?: Data): void => this.#record('info', event, data);
  readonly warn = (event: string, data?: Data): void => this.#record('warn', event, data);
  readonly error = (event: string, data?: Data): void => this.#record('error', event, data);

  #record(level: Level, event: string, data: Data): void {
    this.lines.push({ level, event, data });
  }

  #eventsOf(level: Level): readonly string[] {
    return this.lines.filter((line) => line.level === level).map((line) => line.event);
  }
}

export function recordingLogger(): RecordingLogger {
  return new RecordingLogger();
}
