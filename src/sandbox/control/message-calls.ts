import { deleteMessage, deleteMessages } from '../world/messages.ts';
import { pinnedMessages } from '../world/pins.ts';
import type { World } from '../world/world.ts';
import type { DefineCall } from './control-calls.ts';
import { controlInputs } from './control-inputs.ts';
import { messageView } from './control-views.ts';
import { edit, pin, react, requireRightToDelete, say, vote } from './person-actions.ts';
import { findChannel, findMessageById, findPerson } from './references.ts';
import { requireView } from './rights.ts';
import type { SandboxControl } from './sandbox-control.ts';
import { SandboxError } from './sandbox-error.ts';

type MessageCalls = Pick<
  SandboxControl,
  | 'say'
  | 'edit'
  | 'delete'
  | 'bulkDelete'
  | 'react'
  | 'unreact'
  | 'pin'
  | 'unpin'
  | 'pins'
  | 'vote'
  | 'versions'
  | 'type'
>;

/** What people do with messages. */
export function messageCalls(define: DefineCall, world: World): MessageCalls {
  return {
    say: define('say', controlInputs.say, (input) => messageView(world, say(world, input))),
    edit: define('edit', controlInputs.edit, (input) => messageView(world, edit(world, input))),
    delete: define('delete', controlInputs.delete, (input) => {
      const message = findMessageById(world, input.message);
      requireRightToDelete(world, [message], input.as);
      deleteMessage(world, message.channelId, message.id);
    }),
    bulkDelete: define('bulkDelete', controlInputs.bulkDelete, (input) => {
      const messages = input.messages.map((id) => findMessageById(world, id));
      const channelIds = new Set(messages.map(({ channelId }) => channelId));
      const [channelId] = channelIds;
      if (channelId === undefined || channelIds.size > 1)
        throw new SandboxError('The messages are not of one channel');
      requireRightToDelete(world, messages, input.as);
      deleteMessages(world, channelId, input.messages);
    }),
    react: define('react', controlInputs.react, (input) => react(world, input, true)),
    unreact: define('unreact', controlInputs.unreact, (input) => react(world, input, false)),
    pin: define('pin', controlInputs.pin, (input) => pin(world, input, true)),
    unpin: define('unpin', controlInputs.unpin, (input) => pin(world, input, false)),
    pins: define('pins', controlInputs.pins, (input) =>
      pinnedMessages(world, findChannel(world, input.in).id).map((message) => messageView(world, message)),
    ),
    vote: define('vote', controlInputs.vote, (input) => vote(world, input)),
    versions: define('versions', controlInputs.versions, (input) => {
      const versions = world.versions.get(input.message);
      if (versions === undefined) throw new SandboxError(`There never was a message ${input.message}`);
      return [...versions];
    }),
    type: define('type', controlInputs.type, (input) => {
      const user = findPerson(world, input.as);
      const channel = findChannel(world, input.in, user);
      requireView(world, channel, user);
      world.emit({ type: 'typing-started', channel, userId: user.id, at: world.now() });
    }),
  };
}
