import type { FastifyReply } from 'fastify';

/** Answers by 429. The header counts whole seconds, the body is exact. */
export async function answerRateLimited(
  reply: FastifyReply,
  limited: {
    readonly seconds: number;
    readonly isGlobal: boolean;
    readonly headers: Readonly<Record<string, string>>;
  },
): Promise<void> {
  const { seconds, isGlobal, headers } = limited;
  await reply
    .code(429)
    .headers({ 'retry-after': String(Math.ceil(seconds)), ...headers })
    .send({ message: 'You are being rate limited.', retry_after: seconds, global: isGlobal, code: 0 });
}
