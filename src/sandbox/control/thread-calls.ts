import { changeThread, joinThread, leaveThread } from '../world/channels.ts';
import type { Message, ThreadChannel, User } from '../world/entities.ts';
import { mentionsIn } from '../world/mentions.ts';
import { createPost, createThread } from '../world/threads.ts';
import type { World } from '../world/world.ts';
import type { CheckedInput } from './control-inputs.ts';
import { channelView } from './control-views.ts';
import { written } from './message-calls.ts';
import { messageView } from './message-view.ts';
import {
  findChannel,
  findMessageById,
  findPerson,
  findTextChannel,
  requireOpen,
  requirePermission,
  requireView,
} from './references.ts';
import { SandboxError, type DefineCall } from './sandbox-control.ts';

/** What people do with threads and posts as a whole. */
export function threadCalls(define: DefineCall, world: World) {
  return {
    addThread: define('addThread', (input) => channelView(world, addThread(world, input))),
    /** Opens a post of a forum; the answer is its first message, whose id is the post's too. */
    addPost: define('addPost', (input) => messageView(world, addPost(world, input))),
    /** Puts a thread away or opens it, locks or renames it. */
    alterThread: define('alterThread', (input) => channelView(world, alterThread(world, input))),
    setThreadMember: define('setThreadMember', (input) => channelView(world, setThreadMember(world, input))),
  };
}

/** A person opens a thread. @throws {SandboxError} when they may not, or the message has one already. */
function addThread(world: World, input: CheckedInput<'addThread'>): ThreadChannel {
  const parent = findTextChannel(world, input.channel);
  if (parent.form === 'forum')
    throw new SandboxError(`#${parent.name} is a forum, which takes posts: use addPost`);
  const owner = findPerson(world, input.as);
  requireView(world, parent, owner);
  requirePermission(world, parent, owner, input.private ? 'CreatePrivateThreads' : 'CreatePublicThreads');
  const startMessage = input.message === undefined ? undefined : findMessageById(world, input.message);
  if (startMessage !== undefined && startMessage.channelId !== parent.id) {
    throw new SandboxError(`Message ${startMessage.id} is not in ${input.channel}`);
  }
  if (startMessage !== undefined && (input.private || world.channels.has(startMessage.id))) {
    throw new SandboxError('A thread on a message is public, and a message has one at most');
  }
  return createThread(world, {
    parent,
    name: input.name,
    ownerId: owner.id,
    isPrivate: input.private,
    memberIds: input.members.map((reference) => findPerson(world, reference).id),
    startMessage,
  });
}

/** A person opens a post of a forum; its first message has the post's id. @throws {SandboxError} when they may not. */
function addPost(world: World, input: CheckedInput<'addPost'>): Message {
  const parent = findTextChannel(world, input.forum);
  if (parent.form !== 'forum') throw new SandboxError(`#${parent.name} is not a forum`);
  const owner = findPerson(world, input.as);
  requireView(world, parent, owner);
  requirePermission(world, parent, owner, 'SendMessages');
  const { text, attachments } = written(world, parent, owner, input);
  const message = { text, attachments, mentions: mentionsIn(text, undefined, undefined) };
  return createPost(world, { parent, name: input.title, ownerId: owner.id, message }).message;
}

/**
 * Archives, reopens, locks or renames a thread; by default as somebody who may.
 * @throws {SandboxError} for somebody who may not, or a channel that is not a thread.
 */
function alterThread(world: World, input: CheckedInput<'alterThread'>): ThreadChannel {
  const thread = findThread(world, input.thread);
  if (input.as !== undefined) {
    const user = findPerson(world, input.as);
    requireView(world, thread, user);
    const isOwn = thread.ownerId === user.id && !thread.locked && input.locked === undefined;
    if (!isOwn) requirePermission(world, thread, user, 'ManageThreads');
  }
  changeThread(world, thread, input);
  return thread;
}

/** Adds somebody to a thread, or takes them out of it; themselves, or by whom `as` names. */
function setThreadMember(world: World, input: CheckedInput<'setThreadMember'>): ThreadChannel {
  const thread = findThread(world, input.thread);
  const member = findPerson(world, input.person);
  const actor = input.as === undefined ? undefined : findPerson(world, input.as);
  if (actor !== undefined) requireRightToInvite(world, thread, actor, input.member);
  if (input.member) joinThread(world, thread, member.id);
  else leaveThread(world, thread, member.id);
  return thread;
}

function requireRightToInvite(world: World, thread: ThreadChannel, actor: User, adds: boolean): void {
  requireView(world, thread, actor);
  requireOpen(world, thread, actor);
  const ownsPrivate = thread.isPrivate && thread.ownerId === actor.id;
  if (adds) requirePermission(world, thread, actor, 'SendMessagesInThreads');
  else if (!ownsPrivate) requirePermission(world, thread, actor, 'ManageThreads');
}

function findThread(world: World, reference: string): ThreadChannel {
  const channel = findChannel(world, reference);
  if (channel.kind !== 'thread') throw new SandboxError(`${reference} is not a thread`);
  return channel;
}
