import type { World } from '../world/world.ts';
import type { DefineCall } from './control-calls.ts';
import { controlInputs } from './control-inputs.ts';
import { channelView, messageView } from './control-views.ts';
import type { SandboxControl } from './sandbox-control.ts';
import { addPost, addThread, alterThread, setThreadMember } from './thread-actions.ts';

type ThreadCalls = Pick<SandboxControl, 'addThread' | 'addPost' | 'alterThread' | 'setThreadMember'>;

/** What people do with threads and posts as a whole. */
export function threadCalls(define: DefineCall, world: World): ThreadCalls {
  return {
    addThread: define('addThread', controlInputs.addThread, (input) =>
      channelView(world, addThread(world, input)),
    ),
    addPost: define('addPost', controlInputs.addPost, (input) => messageView(world, addPost(world, input))),
    alterThread: define('alterThread', controlInputs.alterThread, (input) =>
      channelView(world, alterThread(world, input)),
    ),
    setThreadMember: define('setThreadMember', controlInputs.setThreadMember, (input) =>
      channelView(world, setThreadMember(world, input)),
    ),
  };
}
