import type { Logger } from '../../src/core/logger.ts';

/** A logger that keeps the events of warnings and errors for a test to look at. */
export class RecordingLogger implements Logger {
  readonly warnings: string[] = [];
  readonly errors: string[] = [];

  debug(): void {}
  info(): void {}

  warn(event: string): void {
    this.warnings.push(event);
  }

  error(event: string): void {
    this.errors.push(event);
  }
}
