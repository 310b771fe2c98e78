import type { CommandReply } from '../../src/core/commands.ts';
import type { ModelRequest } from '../../src/core/model.ts';
import type { Place } from '../../src/core/place.ts';
import type { VirtualClock } from './clock.ts';
import type { SimulatedDisk } from './disk.ts';
import { ReminderPromises } from './reminders.ts';
import {
  answerOf,
  echoOf,
  echoPattern,
  mayBeTold,
  storedPattern,
  unechoed,
  wordOf,
  wordPattern,
  type Origin,
  type SaidWord,
} from './truth.ts';
import { botId, type World, type WorldChannel, type WorldMessage } from './world.ts';

const minuteMs = 60_000;
/** How long a change can be undone [K5]. */
export const undoMs = 10 * minuteMs;
/** Longer than anybody waits for an answer in the worst weather [G3e]. */
export const lateMs = 60 * minuteMs;
/** After a change of who reads along, or of what is gone, what was on its way may still arrive. */
const graceMs = 5000;
/** The same while the disk is slow, of which a prompt reads many files. */
const slowGraceMs = 60_000;
/** What a turn takes at most from its message to its answer, with what waits before it. */
const turnMs = 6 * minuteMs;
/** Characters of a prompt, all of its sections at their budgets [P4]. */
const promptChars = 41_000;
const messageChars = 2000;
const notePath = /^\/workspace\/|\/notebook\//u;
/** Messages, and characters of them, behind which history reaches no more [H1], with room for those that wait to be answered. */
const historyReach = { messages: 40, chars: 5000 };
/** Of a prompt: what is told from memory and not from the channel. */
const memorySections =
  /^<(?<tag>durable_items|matching_items|conversation_summary|overview|recent_elsewhere|user_profile|notes|notebook_index)>\n.*?^<\/\k<tag>>$/gmsu;
/** Characters of history [H1]. */
const historyChars = 3000;

export interface Breach {
  readonly promise: string;
  readonly detail: string;
}

interface Asked {
  readonly message: WorldMessage;
  /** Nothing has to come of it. */
  isExcused: boolean;
}

/** A person had the summary of a conversation cleared. */
interface Reset {
  readonly personId: string;
  readonly channelId: string;
  /** The newest message that was answered there by then: what waited for its turn came after. */
  readonly answered: bigint;
}

/** Where something is told. */
interface Telling {
  readonly channel: WorldChannel;
  /** The channel's place, or places where that has just changed. */
  readonly places: Place[];
  /** What is gone since then may still be on its way. */
  readonly since: number;
  readonly where: () => string;
  /** That tells it. */
  readonly message?: WorldMessage;
}

/**
 * Checks from outside what people were promised: what they wrote and were told, what goes to the model and what is
 * on disk. It knows nothing of how the bot is made.
 */
export class Promises {
  readonly #words = new Map<string, SaidWord>();
  readonly #wordsOfMessages = new Map<string, SaidWord[]>();
  readonly #asked = new Map<string, Asked>();
  /** Messages that the bot must leave alone, as long as this holds. */
  readonly #unanswerable = new Map<string, () => boolean>();
  /** Messages that name nobody. */
  readonly #overheard = new Set<string>();
  /** Messages of the bot by what they answer. */
  readonly #answers = new Map<string, Set<string>>();
  /** The newest message of each person in each channel that was answered. */
  readonly #answered = new Map<string, bigint>();
  /** Messages of the bot that told an echo. */
  readonly #echoes = new Map<string, Set<WorldMessage>>();
  /** Whom which echo was told, and where: that is theirs to hear again, where what was said there may be. */
  readonly #heard = new Map<string, Map<string, Origin>>();
  readonly #offRecord = new Set<string>();
  /** People of whom nobody can tell whether they have paused. */
  readonly #mayBeOffRecord = new Set<string>();
  /** When people said that what they say may be stored again. */
  readonly #resumed = new Map<string, number>();
  /** Conversations that a person took off the record once, by person and channel. */
  readonly #offRecordHere = new Set<string>();
  /** Since when people have the bot notice nothing by itself. */
  readonly #modeOff = new Map<string, number>();
  readonly #resets: Reset[] = [];
  /** Words that stood in a profile when the bot looked back. */
  readonly #noted = new Set<string>();
  /** Of these, what its person was told of when it was there no more. */
  readonly #toldLost = new Set<string>();
  /** What was there no more when a message was answered. */
  readonly #lostBefore = new Map<string, SaidWord>();
  readonly #tried = new Map<string, number>();
  readonly reminders: ReminderPromises;
  readonly #clock: VirtualClock;
  readonly #world: World;
  readonly #disk: SimulatedDisk;
  readonly #isDiskCalmSince: (moment: number) => boolean;
  #wordCount = 0;
  #breach: Breach | undefined;

  /** `isDiskCalmSince` says whether the disk has done what it should since a moment. */
  constructor(
    clock: VirtualClock,
    world: World,
    disk: SimulatedDisk,
    isDiskCalmSince: (moment: number) => boolean,
  ) {
    this.#isDiskCalmSince = isDiskCalmSince;
    this.#clock = clock;
    this.#world = world;
    this.#disk = disk;
    this.reminders = new ReminderPromises(clock, world, this);
  }

  /** The first promise that was broken. */
  get breach(): Breach | undefined {
    return this.#breach;
  }

  broken(promise: string, detail: string): void {
    this.#breach ??= { promise, detail };
  }

  /** How often it was looked at whether each promise holds. */
  get tried(): ReadonlyMap<string, number> {
    return this.#tried;
  }

  /** It is looked at whether a promise holds. */
  tries(promise: string): void {
    this.#tried.set(promise, (this.#tried.get(promise) ?? 0) + 1);
  }

  // What people say and do

  /** A word that nobody has said yet. */
  nextWord(): string {
    return wordOf(this.#wordCount + 1);
  }

  /** A person says {@link nextWord}, in a message or by a slash command. */
  said(ownerId: string, channelId: string, messageId?: string): SaidWord {
    this.#wordCount += 1;
    const place = this.#world.placeOf(channelId);
    const earlier = messageId === undefined ? [] : (this.#wordsOfMessages.get(messageId) ?? []);
    const said: SaidWord = {
      word: wordOf(this.#wordCount),
      ownerId,
      ...(messageId !== undefined && { messageId }),
      places: [place],
      at: this.#clock.now,
      isOffRecord: this.#offRecord.has(ownerId),
      mayBeOffRecord: this.#mayBeOffRecord.has(ownerId),
      scope: 'as-said',
      isAcknowledged: false,
      isAnswered: false,
      // An edit that other people read than the message may count as its deletion [V1]; a forgotten message stays hidden.
      isUncertain: earlier.some(
        ({ places, wasForgotten }) =>
          wasForgotten === true || !places.every((then) => isSamePlace(then, place)),
      ),
    };
    this.#words.set(said.word, said);
    if (messageId !== undefined) this.#wordsOfMessages.set(messageId, [...earlier, said]);
    return said;
  }

  /** The bot comes to read a message, perhaps long after it was written. */
  read(message: WorldMessage): void {
    const place = this.#world.placeOf(message.channelId);
    for (const said of this.#wordsIn(message)) {
      said.places.push(place);
      if (place.audience === 'public' && message.text.startsWith('!memory remember'))
        said.scope = 'everywhere';
    }
  }

  /** A word that a person has said and not given up, by its number; `undefined` where there is none. */
  wordOf(ownerId: string, index: number): SaidWord | undefined {
    const own = [...this.#words.values()].filter(
      (said) => said.ownerId === ownerId && said.gone === undefined,
    );
    return own[index % own.length];
  }

  /** What a person does from here on leaves open what becomes of what they said. */
  unsettle(ownerId: string, mayRestore: boolean): void {
    for (const said of this.#words.values())
      if (said.ownerId === ownerId && said.gone?.isFinal !== true) {
        said.isUncertain = true;
        if (!mayRestore) continue;
        delete said.gone;
        delete said.hiddenAt;
      }
  }

  /** From now on a person's days are those of another zone: nobody can tell of which what they said today was. */
  zoneChanged(ownerId: string, zone: string): void {
    for (const said of this.#words.values()) if (said.ownerId === ownerId) delete said.day;
    this.reminders.zoneChanged(ownerId, zone);
  }

  /** A person may have widened what they said. */
  shared(ownerId: string): void {
    for (const said of this.#words.values()) if (said.ownerId === ownerId) said.scope = 'everywhere';
  }

  setOffRecord(ownerId: string, isOffRecord: boolean, askedAt: number): void {
    this.#mayBeOffRecord.delete(ownerId);
    if (isOffRecord) {
      this.#mayBeAnsweredOffRecord(ownerId);
      this.#offRecord.add(ownerId);
      this.#resumed.delete(ownerId);
    } else if (this.#offRecord.delete(ownerId)) this.#resumed.set(ownerId, this.#clock.now);
    // Of what is said from the other command until its answer, nobody can tell which was first.
    for (const said of this.#words.values())
      if (said.ownerId === ownerId && said.at >= askedAt) {
        said.isOffRecord = false;
        said.mayBeOffRecord = true;
      }
  }

  /** Whether a person has paused, and which mode they have, is not known from here on. */
  losesTrackOfPauses(ownerId: string): void {
    this.#modeOff.delete(ownerId);
    this.#mayBeAnsweredOffRecord(ownerId);
    this.#offRecord.delete(ownerId);
    this.#resumed.delete(ownerId);
    this.#mayBeOffRecord.add(ownerId);
  }

  /** What a person has said and is not answered yet may be answered in a pause, and kept no more than that answer [K9]. */
  #mayBeAnsweredOffRecord(ownerId: string): void {
    for (const said of this.#words.values())
      if (said.ownerId === ownerId && !said.isAnswered) said.mayBeOffRecord = true;
  }

  /** From here on nothing that a person says is noticed by itself, or it is not known whether it is [K9]. */
  setMode(ownerId: string, isOff: boolean): void {
    if (isOff) this.#modeOff.set(ownerId, this.#clock.now);
    else this.#modeOff.delete(ownerId);
  }

  /** A conversation is off the record, for who knows how long. */
  offRecordHere(personId: string, channelId: string): void {
    this.#offRecordHere.add(`${personId} ${channelId}`);
  }

  /** A person was told that the summary of a conversation is cleared. */
  wasReset(personId: string, channelId: string): void {
    const answered = this.#answered.get(`${channelId} ${personId}`) ?? 0n;
    this.#resets.push({ personId, channelId, answered });
  }

  /** Its owner was told that it is remembered: what they asked for in a pause may be done once that is over. */
  acknowledged(said: SaidWord): void {
    said.isAcknowledged = true;
    if ((this.#resumed.get(said.ownerId) ?? 0) <= said.at || !said.isOffRecord) return;
    said.isOffRecord = false;
    said.mayBeOffRecord = true;
  }

  gone(said: SaidWord, how: string, isFinal: boolean): void {
    said.gone = { at: this.#clock.now, isFinal, how };
    said.wasForgotten ||= how.startsWith('forget');
    // No earlier change can be taken back then, as its person is told [K11].
    if (how === 'purge') for (const lost of this.#lost(said.ownerId)) lost.mayHaveLeftNotes = true;
  }

  /** What is known of a channel goes with it [K15]. */
  channelGone(channelId: string): void {
    this.excuseWhere((message) => message.channelId === channelId);
    // Where the disk could not take what was deleted or edited before, nobody asks about that channel again.
    const isCalm = this.#isDiskCalmSince(this.#clock.now);
    for (const said of this.#words.values()) {
      if (this.#world.message(said.messageId ?? '')?.channelId !== channelId) continue;
      said.isUncertain = true;
      if (!isCalm && (said.gone?.how === 'delete' || said.gone?.how === 'edit')) delete said.gone;
    }
  }

  /** A model has asked to forget what says a word, with the messages that it came from: whether that was done is not known. */
  mayForget(word: string): void {
    const { messageId } = this.#words.get(word) ?? {};
    for (const said of this.#words.values())
      if (said.word === word || (messageId !== undefined && said.messageId === messageId))
        this.#touched(said);
  }

  #touched(said: SaidWord): void {
    said.isUncertain = true;
    this.reminders.unsettle(said.word);
  }

  /** A message was deleted or got another text. Commands keep what they did. */
  messageGone(message: WorldMessage, how: string): void {
    for (const said of this.#wordsIn(message)) {
      this.#touched(said);
      // What was erased before is in no log by which the rest could be found.
      if (!message.text.startsWith('!') && said.gone?.how !== 'erase') this.gone(said, how, true);
    }
    this.excuse(message.id);
  }

  /** Everything that a person had said by a moment; `isTold`: they were told that it is gone. */
  erased(ownerId: string, at: number, isTold: boolean): void {
    for (const { message } of this.#asked.values()) if (message.authorId === ownerId) this.excuse(message.id);
    for (const said of this.#words.values()) {
      if (said.ownerId !== ownerId || said.at > at || said.gone?.isFinal === true) continue;
      this.#touched(said);
      if (isTold) this.gone(said, 'erase', true);
    }
  }

  /** A message that the bot has to answer if its author is let in, unless it is excused. */
  asked(message: WorldMessage, isExcused: boolean): void {
    const { id, authorId, channelId } = message;
    const author = this.#world.person(authorId);
    const channel = this.#world.channel(channelId);
    const isLetIn = this.#world.mayTalk(authorId, channel);
    const { now } = this.#clock;
    // A message in a server tells its author's roles; otherwise what was asked of Discord counts for a minute.
    const isSure = now - author.accessChangedAt > minuteMs + graceMs || (channel.kind !== 'dm' && !isExcused);
    this.#asked.set(id, { message, isExcused: isExcused || !isLetIn || !isSure });
    if (!isLetIn && isSure) this.mustNotAnswer(message, () => author.accessChangedAt < now);
  }

  /** A message that names nobody. Only where a conversation goes on, and if the bot was talking with its author, it may be for the bot [G2]. */
  overheard(message: WorldMessage, mayGoOn: boolean): void {
    this.#overheard.add(message.id);
    // What came between may be deleted, and the message told again.
    const holds = (): boolean => !mayGoOn || !this.#wasTalkingWith(message);
    if (holds()) this.mustNotAnswer(message, holds);
  }

  #wasTalkingWith({ id, authorId, channelId, at }: WorldMessage): boolean {
    let answeredAt: number | undefined;
    for (const each of this.#world.channel(channelId).messages.toReversed()) {
      if (BigInt(each.id) >= BigInt(id) || each.isDeleted || each.authorId === authorId) continue;
      if (each.authorId !== botId) return false;
      answeredAt ??= each.at;
      const asked = this.#world.message(each.answers ?? '');
      // After a restart the bot may know its earlier answer alone.
      if (asked?.authorId === authorId && !asked.text.startsWith('!')) return at - answeredAt <= 2 * minuteMs;
    }
    return false;
  }

  /** A message that the bot must leave alone, as long as this holds. */
  mustNotAnswer({ id }: WorldMessage, holds: () => boolean): void {
    this.tries('nobody else is answered');
    this.#unanswerable.set(id, holds);
  }

  /** A copy says it as of now; a pause may have begun or ended meanwhile. */
  saidAgain(message: WorldMessage): void {
    for (const said of this.#wordsIn(message)) {
      said.at = this.#clock.now;
      if (said.isOffRecord === this.#offRecord.has(said.ownerId)) continue;
      said.isOffRecord = false;
      said.mayBeOffRecord = true;
    }
  }

  /** What a message said stands in another one now: a copy by a proxy. */
  moved(from: WorldMessage, to: WorldMessage, isExcused: boolean): void {
    const words = this.#wordsIn(from);
    for (const said of words) {
      said.messageId = to.id;
      said.movedAt = this.#clock.now;
      // What was answered is deleted; the copy is asked by itself.
      said.isAnswered = false;
    }
    this.#wordsOfMessages.set(to.id, [...words]);
    this.#wordsOfMessages.delete(from.id);
    this.asked(to, isExcused);
  }

  excuse(messageId: string): void {
    const asked = this.#asked.get(messageId);
    if (asked !== undefined) asked.isExcused = true;
  }

  excuseWhere(isExcused: (message: WorldMessage) => boolean): void {
    for (const asked of this.#asked.values()) if (isExcused(asked.message)) asked.isExcused = true;
  }

  // What has to hold

  /** A request leaves for the model: nothing in it that may not be told to this person in this place [V2], or that is gone. */
  requested(request: ModelRequest): void {
    const text = textOf(request);
    if (request.purpose === 'reflection')
      for (const word of /<user_profile>.*<\/user_profile>/su.exec(text)?.[0].match(wordPattern) ?? [])
        this.#noted.add(word);
    if (request.purpose === 'summary' || request.purpose === 'reflection')
      this.#checkOwn(request.userId, text);
    if (request.purpose === 'extraction') this.#checkNoticing(request.userId, text);
    if (request.purpose !== 'chat' || request.conversation === undefined) return;
    // What was right when the turn began stands in its later rounds too.
    this.tries('prompts keep to their budget');
    const isFirst =
      request.isFallback !== true &&
      !request.messages.some(({ content }) => content.some(({ type }) => type === 'tool_result'));
    const readMs = this.#isDiskCalmSince(this.#clock.now - slowGraceMs) ? graceMs : slowGraceMs;
    const since = this.#clock.now - (isFirst ? readMs : turnMs);
    const historyLength = historyOf(request).length;
    if (isFirst && historyLength > historyChars)
      this.broken('history keeps to its budget', `${historyLength} characters`);
    if (isFirst && text.length > promptChars)
      this.broken('prompts keep to their budget', `${text.length} characters`);
    const [channelId = '', speakerId = ''] = request.conversation.split(':');
    const channel = this.#world.channel(channelId);
    const places = this.#world.placesSince(channelId, since);
    const saidLast = channel.messages.findLast(({ authorId }) => authorId === speakerId);
    for (const said of isFirst && channel.kind === 'dm' ? this.#lost(speakerId) : [])
      this.#lostBefore.set(saidLast?.id ?? '', said);
    const where = `a prompt for ${speakerId} in ${describe(channel)}`;
    const history = this.#inReach(channel, text, since);
    // It is answered where it was asked, though the door has turned since.
    const asked = [...history].find(({ authorId }) => authorId === speakerId);
    const heardIn = [
      ...places,
      ...(asked === undefined ? [] : this.#wordsIn(asked)).flatMap((said) => said.places),
    ];
    const question = text.match(/<message .*?<\/message>/gsu)?.join('') ?? '';
    // What stands in the channel may still be kept out of memory there.
    const memory = text.match(memorySections)?.join('') ?? '';
    const telling = (word: string): Telling => ({
      channel,
      places,
      since,
      where: () => `${where}: ${around(word, text)}`,
    });
    for (const word of new Set(text.match(wordPattern))) {
      this.#checkWord(
        word,
        speakerId,
        telling(word),
        memory.includes(word) ? new Set() : history,
        question.includes(word),
      );
      this.#hears(echoOf(word), speakerId, heardIn);
    }
    for (const line of text.split('\n')) if (/^- \[.*\(src: /u.test(line)) this.#checkItem(line);
    for (const echo of new Set(text.match(echoPattern))) {
      this.#checkEcho(echo, speakerId, telling(echo), memory.includes(echo));
      this.#hears(echo, speakerId, heardIn);
    }
  }

  /** What is said in `mode off` is looked through by nobody, also after a restart. */
  #checkNoticing(ownerId: string, text: string): void {
    const since = this.#modeOff.get(ownerId);
    if (since === undefined) return;
    for (const word of new Set(text.match(wordPattern) ?? [])) {
      const said = this.#words.get(word);
      this.tries('nothing is noticed in mode off');
      if (said !== undefined && said.ownerId === ownerId && said.at > since)
        this.broken('nothing is noticed in mode off', `${word} of ${ownerId}: ${around(word, text)}`);
    }
  }

  /** What a person's summaries and notes are made of: answers can repeat what others had said in the channel [M5a]. */
  #checkOwn(ownerId: string, text: string): void {
    this.tries('others’ words are in nobody’s notes');
    const echoed = (text.match(echoPattern) ?? []).map(unechoed);
    for (const word of new Set([...(text.match(wordPattern) ?? []), ...echoed])) {
      const said = this.#words.get(word);
      if (said !== undefined && said.ownerId !== ownerId)
        this.broken(
          'others’ words are in nobody’s notes',
          `${word} of ${said.ownerId}: ${around(text.includes(word) ? word : echoOf(word), text)}`,
        );
    }
  }

  #checkWord(
    word: string,
    speakerId: string,
    { places, since, where }: Telling,
    history: ReadonlySet<WorldMessage>,
    isQuestion: boolean,
  ): void {
    const said = this.#words.get(word);
    if (said === undefined) return;
    const message = this.#world.message(said.messageId ?? '');
    const standsHere = message !== undefined && says(message, word) && history.has(message);
    const isOnItsWay = message?.isDeleted === true && said.gone === undefined;
    if (isOnItsWay || (said.movedAt ?? 0) >= since) return;
    // A copy that is nobody's stands there for all to read.
    if ([...history].some((each) => each !== message && says(each, word))) return;
    this.tries('nothing is told where it may not');
    const resumedAt = this.#resumed.get(speakerId);
    // What somebody makes of an older message in a pause stands in it, and what was not answered to its end is asked again.
    const isLeft = message !== undefined && (message.at < said.at || !this.#isAnswered(message));
    if (
      said.isOffRecord &&
      !isLeft &&
      !isQuestion &&
      said.ownerId === speakerId &&
      resumedAt !== undefined &&
      resumedAt < since
    )
      this.broken('what was said off the record is used no more', `${word} in ${where()}`);
    // What is purged stays where it stands on Discord.
    if (said.gone !== undefined && !(standsHere && said.gone.how === 'purge')) {
      this.tries('what is gone is told no more');
      // Nobody is told that a message of theirs could not be deleted on a disk that refuses it: it may take until the disk is well again.
      // A disk that cannot be read does not tell either that a message to be answered is of before an erasing.
      const isAcknowledged = said.gone.how !== 'delete' && said.gone.how !== 'edit' && !isQuestion;
      const isTooLate =
        said.gone.at < since && (isAcknowledged || this.#isDiskCalmSince(this.#clock.now - minuteMs));
      const isKept = (path: string): boolean => this.#mayKeep(said, path);
      if (isTooLate && this.#disk.words(storedPattern).get(word)?.some(isKept) !== true)
        this.broken('what is gone is told no more', `${word} (${said.gone.how}) in ${where()}`);
    } else if (!standsHere && !places.some((place) => mayBeTold(asHidden(said, since), speakerId, place)))
      this.broken(
        'nothing is told where it may not',
        `${word} of ${said.ownerId}, said in ${JSON.stringify(said.places)}, in ${where()}`,
      );
  }

  /** The messages of a channel that a prompt's history can hold: what is behind the last that it does hold, as far as history reaches. */
  #inReach({ messages }: WorldChannel, prompt: string, since: number): ReadonlySet<WorldMessage> {
    const isToldIn = ({ text, spoken = '' }: WorldMessage): boolean =>
      `${text}\n${spoken}`.match(wordPattern)?.some((word) => prompt.includes(word)) === true;
    const reached = new Set<WorldMessage>();
    let { messages: left, chars } = historyReach;
    for (let at = messages.findLastIndex(isToldIn); at >= 0; at -= 1) {
      const message = messages[at];
      if (message === undefined || chars < 0 || left === 0) break;
      if (message.isDeleted && (message.deletedAt ?? 0) < since) continue;
      reached.add(message);
      // What it leaves out takes no room, and some of the rest is cut.
      if (!isToldIn(message)) continue;
      left -= 1;
      chars -= Math.min(message.text.length, 600);
    }
    return reached;
  }

  /** The bot's own words of a word: in answers that stand here, or that this person was given where it may be told here. */
  #checkEcho(
    echo: string,
    speakerId: string,
    { channel, places, since, where, message }: Telling,
    isMemory = false,
  ): void {
    const said = this.#words.get(unechoed(echo));
    if (said === undefined || said.hiddenAt !== undefined) return;
    this.tries('nothing is told where it may not');
    const origins = [said, ...(this.#heard.get(echo)?.values() ?? [])];
    if (places.some((place) => origins.some((origin) => mayBeTold(origin, speakerId, place)))) return;
    for (const shown of isMemory ? [] : (this.#echoes.get(echo) ?? []))
      if (
        shown.channelId === channel.id &&
        shown !== message &&
        (!shown.isDeleted || (shown.deletedAt ?? 0) >= since) &&
        shown.text.includes(echo)
      )
        return;
    this.broken(
      'nothing is told where it may not',
      `${echo} of ${said.ownerId}, said in ${JSON.stringify(said.places)}, in ${where()}; told before ${JSON.stringify(origins)}`,
    );
  }

  /** What stands in somebody's prompt may be in the answer to them, and so be theirs to hear again. */
  #hears(echo: string, ownerId: string, places: Place[]): void {
    const heard = this.#heard.get(echo) ?? new Map<string, Origin>();
    this.#heard.set(
      echo,
      heard.set(`${ownerId} ${JSON.stringify(places)}`, { ownerId, places, scope: 'as-said' }),
    );
  }

  /** A message of the bot's can be read, as it is now. */
  shown(message: WorldMessage, channel: WorldChannel): void {
    if (message.text.length > messageChars) this.broken('messages fit', `${message.text.length} characters`);
    this.reminders.shown(message, channel);
    const { answers } = message;
    const [, lines = '0'] = /Looking back, I took (\d+) line/u.exec(message.text) ?? [];
    if (Number(lines) > 5) this.broken('looking back takes little', message.text);
    if (Number(lines) > 0)
      for (const { word } of this.#lost(channel.personId ?? '')) this.#toldLost.add(word);
    if (answers === undefined) return;
    this.tries('one reply a message');
    const ids = this.#answers.get(answers) ?? new Set();
    this.tries('no answer comes late');
    const isLate = this.#clock.now - (this.#world.message(answers)?.at ?? 0) > lateMs;
    if (isLate && !ids.has(message.id) && !message.text.startsWith('⚠️'))
      this.broken('no answer comes late', `${answers}: ${message.text.slice(0, 80)}`);
    this.#answers.set(answers, ids.add(message.id));
    const standing = [...ids].filter((id) => this.#world.message(id)?.isDeleted === false);
    if (standing.length > 1)
      this.broken('one reply a message', `${answers} is answered by ${standing.join(' and ')}`);
    const asked = this.#world.message(answers);
    if (asked === undefined) return;
    if (this.#unanswerable.get(answers)?.() === true)
      this.broken('nobody else is answered', `${answers}: ${message.text.slice(0, 80)}`);
    const { authorId } = asked;
    // What a command answers is kept where it says so.
    const isCommand = asked.text.startsWith('!');
    const isRemembered = isCommand && message.text.includes('Remembered: ');
    const isInTheWay =
      !this.#isDiskCalmSince(asked.at - minuteMs) || this.#offRecordHere.has(`${authorId} ${channel.id}`);
    for (const said of this.#wordsIn(asked)) {
      if (isRemembered) this.acknowledged(said);
      if (!isInTheWay && (!isCommand || isRemembered))
        said.isAnswered = !said.isOffRecord && !said.mayBeOffRecord;
    }
    const key = `${channel.id} ${authorId}`;
    if (BigInt(answers) > (this.#answered.get(key) ?? 0n)) this.#answered.set(key, BigInt(answers));
    const where = (): string => `an answer to ${authorId} in ${describe(channel)}`;
    const since = this.#clock.now - graceMs;
    const places = this.#world.placesSince(channel.id, since);
    for (const echo of new Set(message.text.match(echoPattern))) {
      const tellers = this.#echoes.get(echo) ?? new Set();
      // An edit tells nothing new of what the message told already.
      if (!tellers.has(message)) this.#checkEcho(echo, authorId, { channel, places, since, where, message });
      this.#echoes.set(echo, tellers.add(message));
    }
  }

  /** A command does what it says, and what a person is shown of memory is their own [V2]. */
  replied(personId: string, line: string, { text, files = [] }: CommandReply): void {
    const lately = this.#clock.now - minuteMs;
    const isFine = this.#world.failedAt < lately && this.#isDiskCalmSince(lately);
    if (text.includes('(reference ') && isFine) this.broken('commands do what they say', `${line}: ${text}`);
    this.tries('nobody sees the memory of another');
    const texts = [text, ...files.map(({ bytes }) => Buffer.from(bytes).toString('latin1'))];
    for (const each of texts)
      for (const word of each.match(wordPattern) ?? []) {
        const said = this.#words.get(word);
        if (said !== undefined && said.ownerId !== personId && !line.includes(word))
          this.broken(
            'nobody sees the memory of another',
            `${line} showed ${word} of ${said.ownerId} to ${personId}`,
          );
      }
  }

  /** Everything that was asked by now is answered, unless something stood in the way. */
  checkAnswered(): void {
    for (const [id, { message, isExcused }] of this.#asked) {
      this.#asked.delete(id);
      if (!isExcused) this.tries('every message is answered');
      const lost = this.#lostBefore.get(id);
      const isUntold = lost !== undefined && !this.#toldLost.has(lost.word);
      if (!isExcused && isUntold && !lost.isUncertain && lost.mayHaveLeftNotes !== true)
        this.broken('what looking back takes is told', `${lost.word} of ${message.authorId}, under ${id}`);
      if (isExcused || this.#isAnswered(message)) continue;
      this.broken('every message is answered', `${id} of ${message.authorId}: ${message.text.slice(0, 80)}`);
    }
  }

  /** By itself, or with a later message of the same person. */
  #isAnswered({ id, channelId, authorId }: WorldMessage): boolean {
    return (this.#answered.get(`${channelId} ${authorId}`) ?? 0n) >= BigInt(id);
  }

  /** Nothing that is gone for good, or was said off the record, stands in a byte of the disk [S7] [K9]. */
  checkDisk(): void {
    const onDisk = this.#disk.words(storedPattern);
    for (const { id } of this.#world.people)
      for (const { word } of this.#lost(id, onDisk)) {
        this.tries('looking back takes nothing for good');
        if (onDisk.get(word)?.some((path) => path.includes('/former/')) !== true)
          this.broken('looking back takes nothing for good', `${word} of ${id}`);
      }
    for (const said of this.#words.values()) {
      const { word, gone } = said;
      const paths = (onDisk.get(word) ?? []).filter((path) => !this.#mayKeep(said, path)).join(', ');
      if (said.isOffRecord) this.tries('nothing is stored off the record');
      if (said.isOffRecord && paths !== '')
        this.broken('nothing is stored off the record', `${word} stands in ${paths}`);
      if (gone === undefined) continue;
      if (!gone.isFinal && this.#clock.now - gone.at < undoMs + minuteMs) continue;
      this.tries('what is gone is gone');
      const answers = gone.how === 'delete' ? (onDisk.get(answerOf(word)) ?? []) : [];
      if (paths !== '') this.broken('what is gone is gone', `${word} (${gone.how}) stands in ${paths}`);
      else if (answers.length > 0)
        this.broken('answers go with their question', `${word}, in ${answers.join(', ')}`);
      else if (gone.isFinal) this.#words.delete(word);
    }
  }

  /** What stood in somebody's profile and is in no note now, though they have not touched it [A3]. */
  #lost(ownerId: string, onDisk = this.#disk.words(storedPattern)): readonly SaidWord[] {
    return [...this.#noted].flatMap((word) => {
      const said = this.#words.get(word);
      if (said?.ownerId !== ownerId || said.isUncertain || said.gone || said.mayHaveLeftNotes === true)
        return [];
      return onDisk.get(word)?.some((path) => notePath.test(path)) === true ? [] : [said];
    });
  }

  /**
   * The workspace belongs to the installation and survives its owner's erasing [K11]. An item remembered by command
   * has no message, so `forget` takes the item but not the model's notes about it [K4]. With a message go the notes on
   * its conversation, and the notebook with a direct message [G5]: not what a model took from memory into notes elsewhere
   * (`forget` counts those for the person, in their DM), nor what it noted of words that were not for it, since no log tells what
   * these said.
   */
  #mayKeep({ messageId, gone }: SaidWord, path: string): boolean {
    if (gone === undefined || gone.how === 'purge') return false;
    if (gone.how === 'erase') return path.startsWith('/workspace/');
    const message = this.#world.message(messageId ?? '');
    const isForgotten = gone.how.startsWith('forget');
    const isOfCommand = message?.text.startsWith('!') !== false;
    const isOfDm = message !== undefined && this.#world.channel(message.channelId).kind === 'dm';
    if (notePath.test(path)) return isForgotten ? isOfCommand || gone.how !== 'forget' : !isOfDm;
    const noteOf = /\/sessions\/(?<channelId>\d+)\/.*\.md/u.exec(path)?.groups?.['channelId'];
    if (noteOf === undefined) return false;
    if (noteOf !== message?.channelId || this.#overheard.has(message.id)) return true;
    return isForgotten && isOfCommand;
  }

  /** What a person was told to be remembered, and has not touched since, is shown to them. */
  due(ownerId: string): readonly string[] {
    return [...this.#words.values()]
      .filter(
        (said) =>
          said.ownerId === ownerId && said.isAcknowledged && said.gone === undefined && !said.isUncertain,
      )
      .map(({ word }) => word);
  }

  /** A person's latest words that were said to the bot, answered and left alone since. */
  answeredWords(ownerId: string): readonly string[] {
    return [...this.#words.values()]
      .filter(
        (said) => said.ownerId === ownerId && said.isAnswered && said.gone === undefined && !said.isUncertain,
      )
      .slice(-2)
      .map(({ word }) => word);
  }

  /** The newest word of others, and what answers to a person may have repeated of others last. */
  othersWords(personId: string): readonly string[] {
    const isOthers = (word: string): boolean => this.#words.get(word)?.ownerId !== personId;
    const heard = [...this.#heard].flatMap(([echo, origins]) =>
      isOthers(unechoed(echo)) && [...origins.values()].some(({ ownerId }) => ownerId === personId)
        ? [echo]
        : [],
    );
    return [...[...this.#words.keys()].filter(isOthers).slice(-1), ...heard.slice(-2)];
  }

  /** What another assistant of a person finds is theirs, and no answer that repeats others [EW3]. */
  checkElsewhere(personId: string, found: string): void {
    this.tries('other assistants read one’s own alone');
    const words = [...(found.match(wordPattern) ?? []), ...(found.match(echoPattern) ?? []).map(unechoed)];
    for (const word of words) {
      const said = this.#words.get(word);
      if (said !== undefined && said.ownerId !== personId)
        this.broken('other assistants read one’s own alone', `${word} of ${said.ownerId}: ${found}`);
    }
  }

  checkFound(word: string, found: string): void {
    this.tries('what was said is found');
    // What was searched for is repeated.
    const passages = found.replaceAll(`"${word}"`, '');
    if (!passages.includes(word))
      this.broken('what was said is found', `${word}: ${found} ${JSON.stringify(this.#words.get(word))}`);
  }

  /** What was cleared from a summary does not come back. Each reset is looked at once. */
  takeResets(): readonly Reset[] {
    return this.#resets.splice(0);
  }

  checkReset({ channelId, answered }: Reset, shown: string): void {
    this.tries('what was reset stays cleared');
    const summary = shown.slice(shown.indexOf('Rolling summary:'));
    for (const word of summary.match(wordPattern) ?? []) {
      const message = this.#world.message(this.#words.get(word)?.messageId ?? '');
      if (message?.channelId === channelId && BigInt(message.id) <= answered)
        this.broken('what was reset stays cleared', `${word} in ${summary}`);
    }
  }

  /** A person's words of voice messages, which they have not touched since. */
  onlyHeard(ownerId: string): readonly string[] {
    return [...this.#words.values()]
      .filter(
        (said) =>
          said.ownerId === ownerId &&
          !said.isUncertain &&
          this.#world.message(said.messageId ?? '')?.spoken !== undefined,
      )
      .map(({ word }) => word);
  }

  /** What was only heard becomes no item before its person says so [G7]. */
  checkHeard(ownerId: string, items: string): void {
    this.tries('what is only heard is asked about');
    for (const word of this.onlyHeard(ownerId))
      if (items.includes(word))
        this.broken('what is only heard is asked about', `${word} of ${ownerId} is shown: ${items}`);
  }

  checkKept(ownerId: string, shown: string): void {
    const [ahead = '', over = ''] = shown.split('\nOver:\n');
    for (const word of this.due(ownerId)) {
      this.tries('what is acknowledged is kept');
      if (!shown.includes(word))
        this.broken('what is acknowledged is kept', `${word} of ${ownerId} is not shown`);
      const day = this.#words.get(word)?.day;
      if (day !== undefined) this.#checkDay(word, day, (this.#isPast(day) ? over : ahead).includes(word));
    }
  }

  /** The line of an item in a prompt; a turn that began before midnight may still call it to come. */
  #checkItem(line: string): void {
    const [word = ''] = line.match(wordPattern) ?? [];
    const day = this.#words.get(word)?.day;
    if (
      day === undefined ||
      !line.includes(`${word} today`) ||
      this.#isPast(day) !== this.#isPast(day, turnMs)
    )
      return;
    this.#checkDay(word, day, line.endsWith(' (over)') === this.#isPast(day));
  }

  #checkDay(word: string, day: string, isRight: boolean): void {
    this.tries('what is over is called over');
    if (!isRight) this.broken('what is over is called over', `${word} of ${day}`);
  }

  #isPast(day: string, beforeMs = 0): boolean {
    return day < new Date(this.#clock.now - beforeMs).toISOString().slice(0, 10);
  }

  #wordsIn({ id }: WorldMessage): readonly SaidWord[] {
    return this.#wordsOfMessages.get(id) ?? [];
  }
}

/** To the model: the small lines under the bot's answers are for people [F2]. */
function says({ authorId, text, spoken = '' }: WorldMessage, word: string): boolean {
  const read = authorId === botId ? text.replaceAll(/^-# .*/gmu, '') : text;
  return `${read}\n${spoken}`.includes(word);
}

function isSamePlace(a: Place, b: Place): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** What its owner has hidden is for their DM alone; a turn that ran meanwhile may not know. */
function asHidden(said: SaidWord, since: number): Origin {
  return said.hiddenAt !== undefined && said.hiddenAt < since ? { ...said, scope: 'dm' } : said;
}

/** All that a model reads, tools' results included. */
function textOf({ system, messages }: ModelRequest): string {
  const texts = system.map(({ text }) => text);
  for (const { content } of messages)
    for (const block of content)
      if (block.type === 'text') texts.push(block.text);
      else if (block.type === 'tool_result') texts.push(block.text);
  return texts.join('\n');
}

/** The messages before the question, without sections. */
function historyOf({ messages }: ModelRequest): string {
  const texts = messages
    .slice(0, -1)
    .map(({ content }) => content.map((block) => (block.type === 'text' ? block.text : '')).join(''));
  return texts.join('').replaceAll(/<(?<tag>\w+)>.*?<\/\k<tag>>\s*/gsu, '');
}

function around(word: string, text: string): string {
  const at = text.indexOf(word);
  return `…${text.slice(Math.max(0, at - 150), at + 60).replaceAll('\n', ' ⏎ ')}…`;
}

function describe({ name, kind, door }: WorldChannel): string {
  return kind === 'dm' ? 'their DM' : `${name} (${String(door)})`;
}
