import { z } from 'zod';

import type { ToolDefinition } from '../../core/model.ts';
import type { Tool } from '../../core/tool.ts';
import { actionTool, type ActionOptions } from './action-tool.ts';
import { messageIn } from './message-in.ts';
import { messageProperty } from './message-reference.ts';
import { permit } from './permit.ts';

function definitionOf(name: string, description: string): ToolDefinition {
  return {
    name,
    description,
    inputSchema: {
      type: 'object',
      properties: { message: messageProperty },
      required: ['message'],
      additionalProperties: false,
    },
  };
}

const pin = definitionOf('discord_pin', 'Pin a message of this channel, when the person asks for it.');
const unpin = definitionOf('discord_unpin', 'Unpin a message of this channel, when the person asks for it.');

/** Lets the model pin and unpin a message. Either of it again changes nothing. */
export function createPinTools(options: ActionOptions): readonly Tool[] {
  return [pinTool(pin, true), pinTool(unpin, false)];

  function pinTool(definition: ToolDefinition, isPin: boolean): Tool {
    return actionTool(
      {
        definition,
        inputSchema: z.object({ message: z.string() }),
        async act({ message }, { context, here, throwIfOver }) {
          const messageId = await messageIn(message, context, options.history);
          await permit('pin', here, context, options.settings);
          throwIfOver();
          if (isPin) await here.messages.pin(messageId);
          else await here.messages.unpin(messageId);
          const done = isPin ? 'pinned' : 'unpinned';
          return { text: `The message is ${done}.`, note: `📌 ${done}`, ids: { messageId } };
        },
      },
      options,
    );
  }
}
