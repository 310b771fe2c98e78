import { PermissionFlagsBits, type APIEmbed } from 'discord-api-types/v10';
import { z } from 'zod';

import { cdnFaultSchema, faultSchema, gatewayFaultSchema } from '../rest/faults.ts';
import { maxFiles } from '../world/attachments.ts';

const permission = z.custom<keyof typeof PermissionFlagsBits>(
  (value) => typeof value === 'string' && value in PermissionFlagsBits,
  { error: (issue) => `no permission is called ${JSON.stringify(issue.input)}` },
);
const permissions = z.array(permission).default([]);
/** Long, since the machine may be busy: this ends a wait in vain, and says nothing about how fast a bot is. */
const timeoutMs = z.int().positive().default(60_000);
const optionValues = z.record(z.string(), z.string()).default({});
/** What is waited for after an interaction. */
const outcome = {
  /** The bot's first sign, or a whole answer. */
  until: z.enum(['acknowledged', 'answered']).default('answered'),
  /** Waits for so many follow-ups too. */
  followUps: z.int().nonnegative().default(0),
  timeoutMs,
};
const nothing = z.strictObject({});
/** A person by name or id. */
const person = z.string().min(1);
/** `#general` or `general`; `dm` for the speaker's DM with the bot; `@alice` for Alice's; a thread's name; or an id. */
const channel = z.string().min(1);
/** Files that a person drops. */
const attachments = z
  .array(
    z.strictObject({
      name: z.string().min(1),
      /** What its name stands for if not said. */
      contentType: z.string().optional(),
      text: z.string().optional(),
      base64: z.base64().optional(),
      /** Makes it a recording of so many seconds, and its message a voice message. */
      seconds: z.number().positive().optional(),
      /** What the message says of where the file lies and how long it is, true or not. */
      pretended: z
        .strictObject({ url: z.url().optional(), bytes: z.int().nonnegative().optional() })
        .optional(),
    }),
  )
  .max(maxFiles)
  .default([]);
/** A slash command as a person gives it. */
const slashCommand = {
  as: person,
  in: channel,
  name: z.string().min(1),
  subcommand: z.string().optional(),
  /** A role by name or id, a file by its name. */
  options: optionValues,
};
/** What a person types, and the files that they drop. */
const writing = {
  /** `@Name` becomes a mention. */
  text: z.string().default(''),
  /** Puts a mention of the bot before the text. */
  mentionBot: z.boolean().default(false),
  attachments,
};

/** What each method of the control takes; checked in the process as over HTTP. */
export const controlInputs = {
  info: nothing,
  channels: nothing,
  commands: nothing,
  addPerson: z.strictObject({
    name: z.string().regex(/^[\p{L}\p{N}_]+$/u, 'a name is made of letters, digits and _'),
    id: z
      .string()
      .regex(/^\d{17,20}$/, 'an id has 17 to 20 digits')
      .optional(),
    bot: z.boolean().default(false),
    closedDms: z.boolean().default(false),
    /** Guilds by name or id; the first guild if not said. */
    guilds: z.array(z.string()).optional(),
  }),
  closeDms: z.strictObject({ person, closed: z.boolean() }),
  addGuild: z.strictObject({ name: z.string().min(1), owner: person, members: z.array(person).default([]) }),
  setBotMembership: z.strictObject({ guild: z.string().optional(), isMember: z.boolean() }),
  setGuildAvailability: z.strictObject({ guild: z.string().optional(), available: z.boolean() }),
  setRole: z.strictObject({
    guild: z.string().optional(),
    /** `@everyone` is a role too. */
    name: z.string().min(1),
    permissions,
    people: z.array(person).default([]),
  }),
  /** The role by name or id. */
  takeRole: z.strictObject({
    guild: z.string().optional(),
    role: z.string().min(1),
    people: z.array(person),
  }),
  deleteRole: z.strictObject({ guild: z.string().optional(), role: z.string().min(1) }),
  addEmoji: z.strictObject({
    guild: z.string().optional(),
    name: z.string().regex(/^\w{2,32}$/u, 'an emoji is named by 2 to 32 letters, digits and _'),
  }),
  addChannel: z.strictObject({
    guild: z.string().optional(),
    name: z.string().min(1),
    private: z.boolean().default(false),
    /** A forum takes posts instead of messages. */
    form: z.enum(['text', 'forum', 'voice', 'stage']).default('text'),
    ageRestricted: z.boolean().default(false),
    /** Who sees a private channel besides the bot. */
    members: z.array(person).default([]),
  }),
  setChannelPrivacy: z.strictObject({ channel, private: z.boolean(), members: z.array(person).default([]) }),
  setAgeRestriction: z.strictObject({ channel, ageRestricted: z.boolean() }),
  setOverwrite: z.strictObject({
    channel,
    /** A person, or a role, by name or id. */
    for: z.string().min(1),
    allow: permissions,
    deny: permissions,
  }),
  changePermissions: z.strictObject({
    /** A role by name or id, `@everyone` and the bot's own included. */
    for: z.string().min(1),
    guild: z.string().optional(),
    allow: permissions,
    deny: permissions,
  }),
  /** Those that are not named stay as they are. */
  allowIntents: z.strictObject({
    messageContent: z.boolean().optional(),
    guildMembers: z.boolean().optional(),
    presences: z.boolean().optional(),
  }),
  deleteChannel: z.strictObject({ channel }),
  addThread: z.strictObject({
    channel,
    name: z.string().min(1),
    /** Who opens it. */
    as: person,
    private: z.boolean().default(false),
    members: z.array(person).default([]),
    /** The id of the message that it hangs on. */
    message: z.string().optional(),
  }),
  addPost: z.strictObject({
    /** A channel that was added as a forum. */
    forum: channel,
    as: person,
    title: z.string().min(1).max(100),
    ...writing,
  }),
  alterThread: z.strictObject({
    thread: channel,
    /** Its owner, or somebody who may manage threads; by default anybody who may. */
    as: person.optional(),
    archived: z.boolean().optional(),
    locked: z.boolean().optional(),
    name: z.string().min(1).max(100).optional(),
  }),
  setThreadMember: z.strictObject({
    thread: channel,
    person,
    member: z.boolean().default(true),
    /** Who adds them or takes them out; they do it themselves where nobody is named. */
    as: person.optional(),
  }),
  openDm: z.strictObject({ person }),
  say: z.strictObject({
    as: person,
    in: channel,
    /** The id of a message in the same channel. */
    replyTo: z.string().optional(),
    /** Whether a reply pings the author that it answers. */
    pingReplied: z.boolean().default(true),
    ...writing,
    /** Fields of Discord's message object, handed out as they stand: `sticker_items`, `poll`, `message_snapshots`, `flags`. */
    fields: z.record(z.string(), z.unknown()).optional(),
  }),
  /** Cards that Discord shows under a message of its own accord, such as the preview of a link. */
  showEmbeds: z.strictObject({
    message: z.string(),
    embeds: z.array(z.custom<APIEmbed>((value) => typeof value === 'object' && value !== null)),
  }),
  edit: z.strictObject({ message: z.string(), text: z.string().min(1) }),
  delete: z.strictObject({
    message: z.string(),
    /** Its author, or somebody who may manage messages; by default anybody who may. */
    as: person.optional(),
  }),
  bulkDelete: z.strictObject({
    messages: z.array(z.string()).min(1),
    /** As for `delete`. */
    as: person.optional(),
  }),
  /** Not `present`: takes the reaction back. */
  react: z.strictObject({
    as: person,
    message: z.string(),
    emoji: z.string(),
    present: z.boolean().default(true),
  }),
  pin: z.strictObject({ as: person, message: z.string(), pinned: z.boolean().default(true) }),
  versions: z.strictObject({ message: z.string() }),
  file: z.strictObject({ as: person, message: z.string(), name: z.string() }),
  slash: z.strictObject({ ...slashCommand, attachments, ...outcome }),
  complete: z.strictObject({
    ...slashCommand,
    /** The option that is being typed; `options` are the others, as far as they are filled in. */
    option: z.string().min(1),
    /** What is typed of it until now. */
    value: z.string().default(''),
    timeoutMs,
  }),
  /** `message`: the id of the one that it is given on. */
  menu: z.strictObject({ as: person, name: z.string().min(1), message: z.string(), ...outcome }),
  click: z
    .strictObject({
      as: person,
      /** The id of a message that the person sees, also of one that nobody else does. */
      message: z.string(),
      customId: z.string().optional(),
      /** A button's label or emoji, or a select's placeholder. */
      label: z.string().optional(),
      /** What is chosen in a select, by value. */
      values: z.array(z.string()).optional(),
      ...outcome,
    })
    .refine((input) => (input.customId === undefined) !== (input.label === undefined), {
      error: 'a component is named by customId or by label',
    }),
  submit: z.strictObject({
    as: person,
    /** The id of the interaction that was answered with the modal. */
    interaction: z.string(),
    /** By a field's custom id or label what is written into it; others keep what stands in them. */
    values: z.record(z.string(), z.string()).default({}),
    ...outcome,
  }),
  modals: z.strictObject({ as: person }),
  interaction: z.strictObject({ id: z.string() }),
  messages: z.strictObject({
    in: channel,
    /** Only those after this id. */
    after: z.string().optional(),
    from: z.enum(['anybody', 'bot', 'people']).default('anybody'),
    /** As this person sees them, with what the bot shows to nobody else. */
    as: person.optional(),
  }),
  waitForReply: z.strictObject({
    in: channel,
    /** The id of a message; the newest one that is not the bot's if not said. */
    after: z.string().optional(),
    /** The reply, perhaps only after an edit, contains this text. */
    containing: z.string().optional(),
    /** The bot has neither posted nor edited in the channel for so long. */
    settleMs: z.int().nonnegative().default(0),
    timeoutMs,
  }),
  typingEvents: z.strictObject({ in: channel.optional() }),
  presence: nothing,
  requests: z.strictObject({
    method: z.string().optional(),
    /** The path after `/api/v10`, with `*` for any one segment. */
    path: z.string().optional(),
  }),
  invalidRequests: nothing,
  downloads: nothing,
  delivered: z.strictObject({ timeoutMs }),
  sessions: nothing,
  setRateLimits: z.strictObject({ on: z.boolean() }),
  setFault: faultSchema,
  setCdnFault: cdnFaultSchema,
  setGatewayFault: gatewayFaultSchema,
  clearFaults: nothing,
  dropConnection: z.strictObject({
    how: z.enum(['close', 'cut', 'reconnect', 'invalidate']).default('close'),
    /** Whether the session may be resumed; otherwise the resume is answered by op 9. */
    resumable: z.boolean().default(true),
    /** The code that a close has; 4000, an unknown error, if not said. */
    code: z.int().min(4000).max(4999).optional(),
    /** The resume sends so many events again that the client has already had. */
    repeat: z.int().nonnegative().default(0),
    /** Of this shard only. */
    shard: z.int().nonnegative().optional(),
  }),
  dispatchAgain: z.strictObject({ message: z.string() }),
} as const;

export type ControlMethod = keyof typeof controlInputs;

/** What a caller hands to a method: fields with a default may be left out. */
export type ControlInput<Method extends ControlMethod> = z.input<(typeof controlInputs)[Method]>;

/** The same when it was checked, with all defaults filled in. */
export type CheckedInput<Method extends ControlMethod> = z.output<(typeof controlInputs)[Method]>;
