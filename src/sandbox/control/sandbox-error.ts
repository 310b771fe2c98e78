/** The sandbox was asked for something that it cannot do; the message says what and, where it helps, what there is. */
export class SandboxError extends Error {
  override readonly name = 'SandboxError';
}
