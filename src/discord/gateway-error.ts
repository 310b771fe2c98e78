import { GatewayCloseCodes } from 'discord.js';

export type GatewayFailure = 'token' | 'intents' | 'unreachable' | 'timeout' | 'rejected';

/** The bot cannot be connected, or no longer; the message is one clear line for whoever runs it. */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  readonly failure: GatewayFailure;
  constructor(failure: GatewayFailure, cause?: unknown) {
    super(explanation(failure), { cause });
    this.failure = failure;
  }
}

function explanation(failure: GatewayFailure): string {
  switch (failure) {
    case 'token':
      return 'Discord refused the token: check DISCORD_TOKEN';
    case 'intents':
      return 'Discord refused the intents: switch on "Message Content Intent" for the bot in the developer portal';
    case 'unreachable':
      return 'Discord cannot be reached: check the network and DISCORD_API_URL';
    case 'timeout':
      return 'Discord did not finish the login in time';
    case 'rejected':
      return 'Discord refused the connection';
  }
}

const failureByCloseCode: Readonly<Record<number, GatewayFailure>> = {
  [GatewayCloseCodes.AuthenticationFailed]: 'token',
  [GatewayCloseCodes.DisallowedIntents]: 'intents',
};

/** What a close of the gateway for good means. */
export function gatewayErrorOfClose(code: number): GatewayError {
  return new GatewayError(
    failureByCloseCode[code] ?? 'rejected',
    new Error(`The gateway closed with code ${code}`),
  );
}

/** What a failed login or request means, as far as it can be told: the library puts some of it into words only. */
export function gatewayErrorOf(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  const text = error instanceof Error ? error.message : '';
  if (statusOf(error) === 401 || /^Authentication failed$|invalid token/iu.test(text))
    return new GatewayError('token', error);
  if (text === 'Used disallowed intents') return new GatewayError('intents', error);
  const isVerdict = statusOf(error) !== undefined || /^(?:Used an? |Invalid shard|Sharding)/u.test(text);
  return new GatewayError(isVerdict ? 'rejected' : 'unreachable', error);
}

function statusOf(error: unknown): number | undefined {
  return error instanceof Error && 'status' in error && typeof error.status === 'number'
    ? error.status
    : undefined;
}
