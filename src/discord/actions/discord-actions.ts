import type { Client } from 'discord.js';

import type { ActionTools } from '../../core/tool.ts';
import type { ActionOptions } from './action-tool.ts';
import { createActionsSection } from './actions-section.ts';
import { createPinTools } from './pin-tools.ts';
import { createPollTool } from './poll-tool.ts';
import { createReactTool } from './react-tool.ts';
import { createSendTool } from './send-tool.ts';
import { createStartThreadTool } from './start-thread-tool.ts';

/** What the model may do on Discord for a speaker, and what tells it so. */
export function createDiscordActions(options: ActionOptions & { readonly client: Client }): ActionTools {
  return {
    tools: [
      createReactTool(options),
      createStartThreadTool(options),
      ...createPinTools(options),
      createPollTool(options),
      createSendTool(options),
    ],
    reader: createActionsSection(options.client, options.settings),
  };
}
