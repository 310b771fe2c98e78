import { testedFaults } from './tested-faults.ts';

/** A mistake that somebody could make, as one line: the simulator must find each, or a test. */
export interface PlantedFault {
  readonly name: string;
  /** What it breaks: the rule, and what a person notices. */
  readonly promise: string;
  readonly file: string;
  /** Stands in the file once. */
  readonly find: string;
  readonly put: string;
  /** The test file that finds it. Default: the simulator. */
  readonly test?: string;
}

/** A source with the fault in it.
 * @throws {RangeError} where what it replaces does not stand there exactly once. */
export function plant({ name, file, find, put }: PlantedFault, source: string): string {
  const parts = source.split(find);
  const [before, after] = parts;
  if (before === undefined || after === undefined || parts.length > 2)
    throw new RangeError(
      `The planted fault "${name}" must be updated: the text it replaces occurs ${parts.length - 1} times in ${file}: ${find}`,
    );
  return `${before}${put}${after}`;
}

export const plantedFaults: readonly PlantedFault[] = [
  {
    name: 'other-assistants-find-answers-of-others-words',
    promise: "[EW3] Another assistant finds an answer of the bot's that repeats what somebody else wrote.",
    file: 'src/memory/recall/recall.ts',
    find: '(request.isOwnOnly === true && thirdPartyMark !== undefined);',
    put: 'false;',
  },
  {
    name: 'here-anywhere-in-server',
    promise: '[V2] What was said in a private channel is used in other channels of its server.',
    file: 'src/core/visibility.ts',
    find: '(memory.homeId === place.homeId || memory.homeId === place.parentId) &&',
    put: 'memory.guildId === place.guildId &&',
  },
  {
    name: 'new-readers-are-told',
    promise: '[V2a] Who is let into a private channel is told what was said there before.',
    file: 'src/core/visibility.ts',
    find: 'couldRead(memory.readers, place.readers))',
    put: 'true)',
  },
  {
    name: 'summary-as-wide-as-its-first',
    promise: '[V2] A summary that begins with public words tells private ones in public.',
    file: 'src/memory/rolling/write-summary.ts',
    find: '...folded.reduce(narrower, pickReach(first))',
    put: '...pickReach(first)',
  },
  {
    name: 'answered-for-former-readers',
    promise:
      '[V2] A message that waited is answered for those who could read it when it was written, not for those who can now.',
    file: 'src/turn/run-turn.ts',
    find: 'const running = { turn, answered, question,',
    put: 'const running = { turn, answered: turn, question,',
  },
  {
    name: 'backup-keeps-erased',
    promise: '[S7] What was forgotten or deleted stands in the former copy of its file.',
    file: 'src/storage/files/documents.ts',
    find: 'if (isErasing) await disk.replaceFile({ key, path: backupOf(path), bytes });',
    put: '',
  },
  {
    name: 'answers-to-deleted-stay',
    promise: '[G5] Answers that repeat a deleted message stay in memory.',
    file: 'src/memory/log/withdrawal.ts',
    find: '[...idsOf(message), ...message.replyTo].some(isDeleted)',
    put: 'idsOf(message).some(isDeleted)',
  },
  {
    name: 'edited-stays-in-history',
    promise: '[G5] A message that was edited is still read to the model as it was.',
    file: 'src/discord/history.ts',
    find: 'channels.get(change.channelId)?.edit(change);',
    put: '',
  },
  {
    name: 'timer-lost-over-restart',
    promise: '[S7] What was forgotten before a restart never leaves the disk.',
    file: 'src/bot/layers.ts',
    find: 'await changes.finishFor(userId);',
    put: '',
  },
  {
    name: 'history-keeps-erased',
    promise: '[K11] What a person said before they had everything erased is still read to the model.',
    file: 'src/turn/earlier-messages.ts',
    find: 'const kept = await withoutErased(before, ports.people);',
    put: 'const kept = before;',
  },
  {
    name: 'undo-leaves-the-new',
    promise: '[K5] Undo brings back what was, and leaves beside it what took its place.',
    file: 'src/memory/durable/undoing.ts',
    find: 'return [found.before];',
    put: 'return [item, found.before];',
  },
  {
    name: 'sent-again-under-another-nonce',
    promise: '[G3] A message that Discord took and answered with an error is posted twice.',
    file: 'src/discord/replies/growing-reply.ts',
    find: 'sentOnce(`${nonceBase}-${index}`)',
    put: 'sentOnce(`${nonceBase}-${index}-${Date.now()}`)',
  },
  {
    name: 'own-lines-read-as-words',
    promise:
      '[F2] The small lines under answers, with what was remembered in them, are read to the model as what was said.',
    file: 'src/discord/replies/split-reply.ts',
    find: "const text = all.slice(0, start).join('\\n');",
    put: 'const text = content;',
  },
  {
    name: 'pause-not-kept',
    promise: '[K9] What is said in a pause is written down.',
    file: 'src/memory/settings/person-settings.ts',
    find: 'isStored: pause === undefined && !turn',
    put: 'isStored: !turn',
  },
  {
    name: 'pause-is-not-stored',
    promise: '[K9] A pause that was told of is none.',
    file: 'src/memory/settings/person-settings.ts',
    find: "return scope === 'everywhere' ? { ...settings, pausedAt: at } : prolonged(settings, channelId, at);",
    put: 'return settings;',
  },
  {
    name: 'history-over-budget',
    promise: '[H1] The messages before a question take more than their budget.',
    file: 'src/prompt/history.ts',
    find: 'whole.length <= windowMessages && charsOf(whole) <= budget',
    put: 'whole.length <= windowMessages',
  },
  {
    name: 'removed-folder-stays',
    promise: '[S7] What was erased with its folder stays on the disk under a temporary name.',
    file: 'src/storage/files/disk.ts',
    find: 'await unlessMissing(syncFolder(dirname(path)));\n    await fileSystem.removeTree(gone);',
    put: 'await unlessMissing(syncFolder(dirname(path)));',
  },
  {
    name: 'stop-waits-for-answers',
    promise: '[G4] A stop waits for answers that take minutes.',
    file: 'src/bot/create-bot.ts',
    find: 'turns.abort();',
    put: '',
  },
  {
    name: 'folder-taken-from-its-owner',
    promise: '[S1] A second process takes the data folder of one that runs.',
    file: 'src/storage/files/owner-lock.ts',
    find: 'meanwhile: touch });\n    if (alive !== undefined) throw inUse(folder, alive, isSeen);',
    put: 'meanwhile: touch });',
  },
  {
    name: 'deadline-forgotten',
    promise: '[M7] An answer that drips in keeps a person waiting for ever.',
    file: 'src/core/time.ts',
    find: '    limitMs,\n  );',
    put: '    limitMs * 100,\n  );',
  },
  {
    name: 'writes-after-erasing',
    promise: '[K11] Work that began before an erasing of everything goes on writing after it.',
    file: 'src/core/writes.ts',
    find: "if (((await erasedAt(userId)) ?? '') > startedAfter)",
    put: "if (startedAfter === 'never')",
  },
  {
    name: 'turn-forgets-its-beginning',
    promise: '[K11] A turn that began before an erasing of everything counts as begun after it.',
    file: 'src/turn/run-turn.ts',
    find: 'const work = await bot.begin(author.id);',
    put: "const work = { userId: author.id, startedAfter: '9999' };",
  },
  {
    name: 'logged-out-of-turn',
    promise:
      "[S3] A message is logged beside the queue of its author's writes, and so behind an erasing of everything.",
    file: 'src/memory/log/session-log.ts',
    find: 'await writes.run(context.work, () => logUser(context, mode)).finally(() => logging.delete(session));',
    put: 'await logUser(context, mode);',
  },
  {
    name: 'folder-not-synced',
    promise: '[S2] A new file is gone after a loss of power, though what it holds was acknowledged.',
    file: 'src/storage/files/disk.ts',
    find: '(folder) => folder.sync()',
    put: '() => Promise.resolve()',
  },
  {
    name: 'document-not-synced',
    promise: '[S2] What was remembered is torn after a loss of power, though it was acknowledged.',
    file: 'src/storage/files/disk.ts',
    find: 'await put(replacement, true)',
    put: 'await put(replacement, false)',
  },
  {
    name: 'log-not-synced',
    promise: '[S2] A message is gone after a loss of power, though it was on disk before it was answered.',
    file: 'src/storage/files/logs.ts',
    find: 'await file.datasync();\n        if (!state.isNamed)',
    put: 'if (!state.isNamed)',
  },
  {
    name: 'role-asked-for-where-it-was-told',
    promise: '[G1] Who lost their role in a server is answered there for another minute.',
    file: 'src/discord/access.ts',
    find: 'const has = roleIds === undefined ? await rolesIn(id, userId, guildId === undefined) : [id, ...roleIds];',
    put: 'const has = await rolesIn(id, userId, true);',
  },
  // By somebody who had not read the simulator.
  {
    name: 'forget-in-guild-takes-dm-items',
    promise: "[K2] `forget` in a public channel takes items and messages of the person's DM along.",
    file: 'src/memory/durable/items.ts',
    find: 'matching.filter((item) => mayUseItem(item, ownerId, place));',
    put: 'matching;',
  },
  {
    name: 'recall-index-not-grown',
    promise: '[C1] What a person said since their conversation was searched first is not found.',
    file: 'src/memory/recall/sources.ts',
    find: 'if (last !== cursor) await add(isExcluded);',
    put: 'if (cursor === 0) await add(isExcluded);',
  },
  {
    name: 'reset-loses-to-running-summary',
    promise: '[R4] A summary that was under way brings back what `reset rolling` cleared.',
    file: 'src/memory/rolling/record.ts',
    find: 'return { ...rolling, cursor, seen, summary, revision: rolling.revision + 1, rebuild: false };',
    put: 'return { ...rolling, cursor, seen, summary, revision: rolling.revision, rebuild: false };',
  },
  {
    name: 'withdrawn-summary-is-shown-on',
    promise:
      '[A4] The summary that a conversation began with is shown on after what it holds was deleted or edited.',
    file: 'src/turn/prompt-input.ts',
    find: 'if (last.summary.withdrawals !== current.summary.withdrawals) return current;',
    put: '',
  },
  {
    name: 'erased-summary-is-shown-on',
    promise:
      '[K11] The summary that a conversation began with is shown on after its person had everything erased.',
    file: 'src/bot/create-bot.ts',
    find: 'prompts.evict(userId);',
    put: '',
  },
  {
    name: 'short-term-takes-private-channels',
    promise: '[T1] Exchanges in private channels are told in the other channels of their server.',
    file: 'src/memory/short-term/short-term.ts',
    find: "every(({ visibility }) => visibility === 'server')",
    put: "every(({ visibility }) => visibility !== 'dm')",
  },
  {
    name: 'ended-pause-is-not-remembered',
    promise: '[K9] What was said in a pause is read to the model once the pause is over.',
    file: 'src/memory/settings/person-settings.ts',
    find: 'return { ...rest, pastPauses: withPast(rest.pastPauses, { from: pausedAt, until: at }) };',
    put: 'return rest;',
  },
  {
    name: 'lapsed-undo-not-looked-for-again',
    promise: '[S7] What was forgotten is withheld for ever, and stays on the disk.',
    file: 'src/memory/changes.ts',
    find: 'if (Date.parse(each.until) > clock().getTime() ||',
    put: 'if (each.until > each.at ||',
  },
  {
    name: 'undo-button-takes-newest-change',
    promise: '[K5] Undo under an older answer takes back whatever was changed last.',
    file: 'src/commands/memory-forget.ts',
    find: 'const done = await call.memory.durable.undo(call.work, id);',
    put: 'const done = await call.memory.durable.undo(call.work);',
  },
  {
    name: 'nonce-not-enforced',
    promise: '[G3] A reply whose confirmation was lost is posted twice.',
    file: 'src/discord/discord-api.ts',
    find: 'enforce_nonce: true,',
    put: 'enforce_nonce: false,',
  },
  {
    name: 'one-old-reader-is-enough',
    promise:
      '[V2a] Who is let into a private channel beside somebody who was in it is told what was said before.',
    file: 'src/core/place.ts',
    find: 'return now.every((reader) => isAmong(reader, then));',
    put: 'return now.some((reader) => isAmong(reader, then));',
  },
  {
    name: 'copy-without-record',
    promise: '[G2a] What a proxy posts without a record is answered.',
    file: 'src/discord/proxied.ts',
    find: 'if (record === undefined || signal.aborted) return undefined;',
    put: "if (record === undefined) return { message: asAccount(copy, copy.author.id), originalId: '1' };",
  },
  {
    name: 'copy-is-nobodys',
    promise: '[G2a] A copy is logged and answered as the words of a stranger, beside its account.',
    file: 'src/discord/proxied.ts',
    find: 'records.set(copy.id, record);',
    put: '',
  },
  {
    name: 'heard-is-stored-at-once',
    promise: "[G7] What a recording says becomes an item without its person's yes.",
    file: 'src/memory/durable/proposals.ts',
    find: "return mode === 'ask' || originalMode === 'ask' || input.heard === true",
    put: "return mode === 'ask' || originalMode === 'ask'",
  },
  {
    name: 'role-of-any-server',
    promise: '[G1] A role that lets people into one server lets them in everywhere.',
    file: 'src/discord/access.ts',
    find: 'for (const id of guildId === undefined ? client.guilds.cache.keys() : [guildId]) {',
    put: 'for (const id of client.guilds.cache.keys()) {',
  },
  {
    name: 'deleted-stays-in-exchanges',
    promise: '[G5] A deleted message stays among the recent exchanges of its server.',
    file: 'src/memory/short-term/short-term.ts',
    find: 'return removeEntries(userId, ({ messageIds }) => messageIds.some((id) => ids.has(id)));',
    put: 'return;',
  },
  {
    name: 'search-looks-everywhere',
    promise: '[C2] A search in a server finds what was said in direct messages.',
    file: 'src/memory/recall/recall.ts',
    find: 'mayUse({ ownerId: speaker.id, ...reach }, place, speaker.id),',
    put: "reach.homeId !== '' || mayUse({ ownerId: speaker.id, ...reach }, place, speaker.id),",
  },
  {
    name: 'erased-is-read-again',
    promise: '[K11] What a person had erased is read again from Discord, where it still stands.',
    file: 'src/turn/earlier-messages.ts',
    find: "wasErased.get(personOf(message) ?? '')?.(message.at) === true",
    put: 'false',
  },
  {
    name: 'proposal-of-deleted-stays',
    promise: '[K9] What the bot asks about stays on the disk when its message is deleted.',
    file: 'src/memory/durable/items.ts',
    find: 'item.forgotten === undefined &&\n      changed',
    put: "item.forgotten === undefined &&\n      item.status !== 'proposed' &&\n      changed",
  },
  {
    name: 'noticed-after-deleting',
    promise: '[G5] An item is made of a message that was deleted while it was looked at.',
    file: 'src/memory/durable/extraction.ts',
    find: 'return present !== undefined && stillSays(text, present);',
    put: 'return true;',
  },
  {
    name: 'server-words-in-other-servers',
    promise: '[V2] What was said in public in one server is used in another.',
    file: 'src/core/visibility.ts',
    find: "return place.audience === 'dm' || (memory.guildId !== undefined && memory.guildId === place.guildId);",
    put: 'return true;',
  },
  {
    name: 'dm-words-in-public',
    promise: '[V2] What was said in direct messages is used in servers.',
    file: 'src/core/visibility.ts',
    find: "    case 'dm':\n      return place.audience === 'dm';\n  }",
    put: "    case 'dm':\n      return true;\n  }",
  },
  {
    name: 'noticed-is-for-everywhere',
    promise: '[V1] What the bot notices in a private channel may be used everywhere.',
    file: 'src/memory/durable/remember-item.ts',
    find: '    : visibilityOf(place.audience);',
    put: "    : 'everywhere';",
  },
  {
    name: 'summary-retells-others',
    promise: '[M5a] A summary is made of answers that repeat what others had said in the channel.',
    file: 'src/memory/log/records.ts',
    find: "message.role === 'assistant' ? message.thirdPartyMark !== undefined : isHeard(message);",
    put: 'isHeard(message);',
  },
  {
    name: 'summary-of-former-readers',
    promise: '[V2a] A summary is used after somebody new can read its channel.',
    file: 'src/memory/rolling/rolling-summary.ts',
    find: 'const isUsable = summary !== undefined && mayUse({ ownerId: userId, ...summary }, place, speakerId);',
    put: 'const isUsable = summary !== undefined;',
  },
  {
    name: 'role-kept-for-an-hour',
    promise: '[G1] Who lost their role is answered in direct messages for an hour.',
    file: 'src/discord/access.ts',
    find: '{ maxAge: minuteMs }',
    put: '{ maxAge: 60 * minuteMs }',
  },
  {
    name: 'purge-leaves-items',
    promise: '[K11] What is purged stays among the items.',
    file: 'src/memory/durable/durable-memory.ts',
    find: "case 'words': {",
    put: "case 'words': {\n          if (!Number.isNaN(0)) return;",
  },
  {
    name: 'queue-stops-at-an-error',
    promise: '[F3] After a job that failed no other job of its queue begins.',
    file: 'src/core/keyed-queue.ts',
    find: 'const over = running.then(nothing, nothing);',
    put: 'const over = running.then(nothing, () => new Promise<void>(() => {}));',
  },
  {
    name: 'conversation-goes-on-with-everybody',
    promise: '[G2] Where a conversation goes on without a mention, anybody who speaks next is answered.',
    file: 'src/discord/history.ts',
    find: 'if (question === undefined || !saysCommand(question)) return question?.author.id === userId;',
    put: 'if (question === undefined || !saysCommand(question)) return true;',
  },
  {
    name: 'days-are-never-over',
    promise: '[D7] An item about yesterday stands in prompts and lists as if it were still to come.',
    file: 'src/memory/durable/document.ts',
    find: 'return when !== undefined && when < today && looksBack === undefined;',
    put: "return when !== undefined && when < today && looksBack === undefined && when === '';",
  },
  {
    name: 'looking-back-takes-for-good',
    promise: '[A3] What looking back takes out of a notebook is neither told nor can be put back.',
    file: 'src/memory/notebook/undoable.ts',
    find: 'if (losses.length === 0) return make();',
    put: 'if (losses.length >= 0) return make();',
  },
  {
    name: 'looking-back-takes-all',
    promise: '[A3] Looking back takes everything out of a notebook, without a reason.',
    file: 'src/memory/notebook/losses.ts',
    find: 'if (lost.length === 0) return undefined;',
    put: 'if (lost.length >= 0) return undefined;',
  },
  {
    name: 'one-of-several-is-forgotten',
    promise: '[K4] Where the words of `forget_item` fit several items, the first is forgotten unasked.',
    file: 'src/memory/durable/tools.ts',
    find: 'if (named.length === 1) return { item: named[0], choices: [], isVague };',
    put: 'if (named.length > 0) return { item: named[0], choices: [], isVague };',
  },
  {
    name: 'late-answers-are-sent',
    promise: '[G3e] After a long stop an answer is sent that nobody waits for any more.',
    file: 'src/turn/recover.ts',
    find: 'if (isOld(question, now)) {',
    put: 'if (isOld(question, new Date(0))) {',
  },
  {
    name: 'looking-back-is-not-told',
    promise: '[A3] What looking back takes out of a notebook is told nobody.',
    file: 'src/turn/run-turn.ts',
    find: ', ...untold.flatMap((each) => each?.notices ?? [])]',
    put: ']',
  },
  {
    name: 'reminder-twice-after-a-kill',
    promise: '[RM4] After a kill nobody looks whether a reminder stands there already.',
    file: 'src/turn/reminding.ts',
    find: 'const posted = each.attempt && (await post.find({ userId, ...each.attempt }));',
    put: 'const posted: PostedMessage | undefined = undefined;',
  },
  {
    name: 'reminder-twice-after-an-error',
    promise: '[RM4] A reminder that Discord took and answered with an error is posted twice.',
    file: 'src/discord/replies/reminder-post.ts',
    find: 'enforce_nonce: true',
    put: 'enforce_nonce: false',
  },
  {
    name: 'reminder-early',
    promise: '[RM4] With one reminder those come that are due a little later.',
    file: 'src/memory/reminders/reminders.ts',
    find: 'Date.parse(at) <= now.getTime();',
    put: 'Date.parse(at) <= now.getTime() + 600_000;',
  },
  {
    name: 'reminder-before-others',
    promise: '[RM3] A reminder that was set in a private channel comes there when others can read it.',
    file: 'src/turn/reminding.ts',
    find: 'present === undefined || !mayUseReminder(reminder, userId, present)',
    put: 'present === undefined',
  },
  {
    name: 'reminder-notifies-others',
    promise: '[RM3] Those who are named in a reminder are notified when it comes.',
    file: 'src/discord/replies/reminder-post.ts',
    find: '{ parse: [], users: [userId] }',
    put: "{ parse: ['users', 'everyone'] as never }",
  },
  {
    name: 'reminder-not-removed',
    promise: '[RM5] A reminder that was removed comes nevertheless.',
    file: 'src/memory/reminders/reminders.ts',
    find: 'changeEach(work, [id], () => []),',
    put: 'changeEach(work, [id], (reminder) => [reminder]),',
  },
  ...testedFaults,
];
