import { describe, expect, it } from 'vitest';

import { createLogger, type LoggerOptions } from '../../src/observability/logger.ts';

/** A logger and what it wrote, line by line. */
function writingLogger(level: LoggerOptions['level']) {
  const lines: unknown[] = [];
  const logger = createLogger({
    level,
    destination: { write: (line: string) => void lines.push(JSON.parse(line)) },
    isTerminal: false,
  });
  return { logger, lines };
}

it('writes one JSON line for an event at or above its level', () => {
  const { logger, lines } = writingLogger('info');
  logger.debug('turn planned');
  logger.info('turn answered', { userId: '1' });
  logger.warn('turn is slow');
  logger.error('turn failed');
  expect(lines).toEqual([
    { level: 'info', time: expect.any(String), msg: 'turn answered', userId: '1' },
    { level: 'warn', time: expect.any(String), msg: 'turn is slow' },
    { level: 'error', time: expect.any(String), msg: 'turn failed' },
  ]);
});

it('never writes a token, a key or the headers of a request', () => {
  const { logger, lines } = writingLogger('debug');
  const secret = 'sk-secret';
  const secrets = { token: secret, apiKey: secret, authorization: secret };
  logger.debug('configured', { ...secrets, discord: secrets, request: { headers: { 'x-api-key': secret } } });
  expect(lines).toHaveLength(1);
  expect(JSON.stringify(lines)).not.toContain(secret);
});

it('describes an error and its causes, without what else it carries', () => {
  const { logger, lines } = writingLogger('info');
  const cause = Object.assign(new Error('socket closed'), {
    code: 'ECONNRESET',
    body: 'what a person wrote',
  });
  logger.error('request failed', { error: new TypeError('no answer', { cause }) });
  logger.error('request failed', { error: 'thrown text' });
  expect(lines).toEqual([
    expect.objectContaining({
      error: {
        name: 'TypeError',
        message: 'no answer',
        stack: expect.stringContaining('TypeError: no answer'),
        cause: {
          name: 'Error',
          message: 'socket closed',
          code: 'ECONNRESET',
          stack: expect.stringContaining('Error: socket closed'),
        },
      },
    }),
    expect.objectContaining({ error: 'thrown text' }),
  ]);
});

/** The lines as a person reads them, without the time of day, which is checked. */
function readingLogger(level: LoggerOptions['level']) {
  const lines: string[] = [];
  const take = (line: string): void => {
    expect(line).toMatch(/^\d\d:\d\d:\d\d /u);
    lines.push(line.slice('00:00:00 '.length));
  };
  return { logger: createLogger({ level, destination: { write: take }, isTerminal: true }), lines };
}

describe('on a terminal [O5]', () => {
  const failure = new Error('no answer\nat all', {
    cause: Object.assign(new TypeError('socket closed'), { code: 'ECONNRESET' }),
  });

  it('shows an error and its causes in one line, and its stack only at level debug', () => {
    const { logger, lines } = readingLogger('info');
    logger.error('request failed', { error: failure });
    logger.error('request failed', { error: 'thrown text' });
    expect(lines).toEqual([
      'error request failed (no answer\\nat all; because: socket closed, ECONNRESET)\n',
      'error request failed (thrown text)\n',
    ]);
    const more = readingLogger('debug');
    more.logger.error('request failed', { error: failure });
    expect(more.lines[0]).toMatch(/\n\s+at .*logger\.test\.ts/u);
  });
});
