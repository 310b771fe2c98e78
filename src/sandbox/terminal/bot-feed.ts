import type { SandboxServer } from '../sandbox-server.ts';
import type { Interaction, Message } from '../world/entities.ts';
import type { WorldEvent } from '../world/world-event.ts';

/** Something that the bot wrote. The message is the sandbox's own, so it shows the newest wording. */
export interface Utterance {
  readonly message: Message;
  /** It was seen before, with other words. */
  readonly isCorrection: boolean;
  /** The id of the one person who can see it; absent for a message of the channel. */
  readonly onlyFor?: string;
}

export interface BotFeedOptions {
  readonly sandbox: Pick<SandboxServer, 'subscribe'>;
  readonly botId: string;
  /** Called after something came to be taken. */
  readonly onChange?: (change: 'new' | 'edited') => void;
}

/** Collects what the bot writes, in channels and in answer to slash commands, in order, until it is taken. */
export class BotFeed {
  readonly #botId: string;
  readonly #onChange: (change: 'new' | 'edited') => void;
  readonly #answers = new Set<string>();
  readonly #unsubscribe: () => void;
  #waiting: Utterance[] = [];

  constructor({ sandbox, botId, onChange }: BotFeedOptions) {
    this.#botId = botId;
    this.#onChange = onChange ?? (() => {});
    this.#unsubscribe = sandbox.subscribe((event) => this.#take(event));
  }

  /** Everything since the last call, oldest first. */
  take(): readonly Utterance[] {
    const taken = this.#waiting;
    this.#waiting = [];
    return taken;
  }

  close(): void {
    this.#unsubscribe();
  }

  #take(event: WorldEvent): void {
    if (event.type === 'interaction-updated') this.#takeAnswers(event.interaction);
    if (event.type !== 'message-created' && event.type !== 'message-edited') return;
    const { message } = event;
    if (message.authorId !== this.#botId || message.interaction !== undefined) return;
    if (event.type === 'message-created') this.#add({ message, isCorrection: false });
    else this.#correct(message);
  }

  #takeAnswers(interaction: Interaction): void {
    if (interaction.state !== 'answered') return;
    for (const message of [interaction.original, ...interaction.followUps]) {
      if (message?.interaction?.id !== interaction.id || this.#answers.has(message.id)) continue;
      this.#answers.add(message.id);
      this.#add({
        message,
        isCorrection: false,
        ...(interaction.ephemeral ? { onlyFor: interaction.userId } : {}),
      });
    }
  }

  #correct(message: Message): void {
    if (this.#waiting.some((utterance) => utterance.message.id === message.id)) return;
    this.#waiting.push({ message, isCorrection: true });
    this.#onChange('edited');
  }

  #add(utterance: Utterance): void {
    this.#waiting.push(utterance);
    this.#onChange('new');
  }
}
