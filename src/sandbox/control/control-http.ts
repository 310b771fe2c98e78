import type { FastifyInstance } from 'fastify';

import { SandboxError } from './sandbox-control.ts';
import type { ControlCall, SandboxControl } from './sandbox-control.ts';

interface OnMethod {
  readonly Params: { readonly method: string };
}

/** The control over HTTP: `POST /sandbox/<method>` with its input as JSON, answered by `{result}` or `{error}`. */
export function controlRoutes(app: FastifyInstance, calls: ReadonlyMap<string, ControlCall>): void {
  app.post<OnMethod>('/sandbox/:method', async (request, reply) => {
    const call = calls.get(request.params.method);
    if (call === undefined) {
      return reply.code(404).send({ error: `The sandbox has no method ${request.params.method}` });
    }
    try {
      return { result: await call(request.body) };
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      return reply.code(error instanceof SandboxError ? 400 : 500).send({ error: message });
    }
  });
}

/** The control of a sandbox that runs in another process, at the address that it printed. Connects with the first call. */
export function connectSandbox(url: string): SandboxControl {
  function remote<Result>(method: keyof SandboxControl): (input?: unknown) => Promise<Result> {
    return async (input = {}) => {
      const response = await fetch(new URL(`/sandbox/${method}`, url), {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(input),
      });
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- both ends are built from the same interface
      const answer = (await response.json()) as { readonly result: Result } | { readonly error: string };
      if ('error' in answer) throw new SandboxError(answer.error);
      return answer.result;
    };
  }
  return {
    info: remote('info'),
    channels: remote('channels'),
    commands: remote('commands'),
    addPerson: remote('addPerson'),
    closeDms: remote('closeDms'),
    addGuild: remote('addGuild'),
    setRole: remote('setRole'),
    addEmoji: remote('addEmoji'),
    addChannel: remote('addChannel'),
    setChannelPrivacy: remote('setChannelPrivacy'),
    setOverwrite: remote('setOverwrite'),
    changePermissions: remote('changePermissions'),
    deleteChannel: remote('deleteChannel'),
    addThread: remote('addThread'),
    addPost: remote('addPost'),
    alterThread: remote('alterThread'),
    setThreadMember: remote('setThreadMember'),
    openDm: remote('openDm'),
    say: remote('say'),
    edit: remote('edit'),
    delete: remote('delete'),
    bulkDelete: remote('bulkDelete'),
    react: remote('react'),
    unreact: remote('unreact'),
    pin: remote('pin'),
    unpin: remote('unpin'),
    pins: remote('pins'),
    vote: remote('vote'),
    versions: remote('versions'),
    type: remote('type'),
    slash: remote('slash'),
    complete: remote('complete'),
    menu: remote('menu'),
    click: remote('click'),
    interaction: remote('interaction'),
    messages: remote('messages'),
    waitForReply: remote('waitForReply'),
    typingEvents: remote('typingEvents'),
    presence: remote('presence'),
    requests: remote('requests'),
    invalidRequests: remote('invalidRequests'),
    downloads: remote('downloads'),
    delivered: remote('delivered'),
    sessions: remote('sessions'),
    setRateLimits: remote('setRateLimits'),
    setFault: remote('setFault'),
    setCdnFault: remote('setCdnFault'),
    clearFaults: remote('clearFaults'),
    dropConnection: remote('dropConnection'),
    dispatchAgain: remote('dispatchAgain'),
  };
}
