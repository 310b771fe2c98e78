import { ownWords } from '../core/own-words.ts';
import { normalizeText } from '../core/text.ts';

/**
 * What people ask of their memory in plain words [K13]. `this`: not to keep what they say just now. `forget`: to let go of what was just said or stored.
 */
export const wishes = [
  'pause',
  'this',
  'forget',
  'undo',
  'resume',
  'export',
  'erase',
  'show',
  'notices_off',
  'notices_on',
  'mode_off',
  'mode_ask',
  'mode_auto',
] as const;
export type Wish = (typeof wishes)[number];

type Phrases = Partial<Readonly<Record<Wish, readonly string[]>>>;

const store = '(?:remember|memori[sz]e|store|save|record|keep|log|note)';
const storing = '(?:remembering|memori[sz]ing|storing|saving|recording|keeping|logging|tracking)';
const ofMe =
  '(?:(?:things|stuff|anything|everything|facts|details|information|data|notes) (?:about me|i say|i tell you)|what i (?:say|tell you|write)|my (?:messages|words|data))';
const that =
  '(?:this|that|these|those|what i (?:just )?(?:said|told you|wrote)|my last message|(?:the|that) last (?:thing|bit|part|message)(?: i (?:said|wrote|told you))?)';
const doNot = "(?:don'?t|do not|i don'?t want you to|i do not want you to)(?: ever)?";
const kept = '(?:know|have|remember|stored?|saved?|keep|kept|hold)';

/** Whole clauses, each as a pattern over lower case without accents. Open ends stand in none of them, so that nothing is read into what goes on. */
const english: Phrases = {
  pause: [
    `stop (?:remembering|memori[sz]ing|recording|tracking) me`,
    `stop ${storing} ${ofMe}`,
    `(?:stop|quit) taking notes (?:about|on) me`,
    `${doNot} (?:remember|record|track) me`,
    `${doNot} ${store} (?:anything|things|${ofMe})`,
    `(?:never|no longer) ${store} ${ofMe}`,
    `(?:pause|stop|suspend) (?:your |my |the )?memory(?: of me)?`,
  ],
  this: [
    `${doNot} (?:remember|memori[sz]e) (?:${that}|it)`,
    `${doNot} ${store} what i (?:just )?(?:said|told you|wrote)`,
    `${doNot} (?:store|save|keep|put|record) (?:${that}|it) (?:in|to|into) (?:your |my |the )?memory`,
    `(?:this|that|it) is off the record`,
    `(?:keep |let'?s keep )?(?:this|that)(?: conversation| chat)? off the record`,
    `off the record`,
  ],
  forget: [
    `forget ${that}`,
    `forget (?:that )?i (?:ever |just )?(?:said|told you|mentioned) (?:this|that|so|it|anything)`,
    `(?:delete|remove|erase|wipe|clear) (?:${that}|it) from (?:your |my |the )?memory`,
    `(?:delete|remove|erase) (?:this|that|the last) memory`,
  ],
  undo: [
    `undo (?:this|that|it)`,
    `(?:undo|revert|take back) (?:the|your|my) last (?:memory )?change`,
    `undo what you (?:just )?(?:did|saved|stored|remembered|forgot|noted)`,
    `unremember (?:this|that|it)`,
  ],
  resume: [
    `(?:you (?:can|may) )?(?:start |begin )?remember(?:ing)? (?:me |things |things about me |what i say )?again`,
    `(?:you can )?(?:resume|unpause|restart) (?:your |my |the )?memory`,
    `end the (?:memory )?pause`,
  ],
  export: [
    `(?:send|give|export|download|dm|email|get) (?:me )?(?:all )?(?:of )?my (?:data|memories|memory data)`,
    `(?:send|give|export|download|dm) (?:me )?(?:everything|all|all the data|the data|all data) (?:that )?you ${kept} (?:about|on|of) me`,
    `export (?:my|your) memory(?: of me)?`,
    `(?:can i have|can i get|i want|i'?d like|i would like) (?:a copy of )?(?:all )?(?:of )?my data`,
  ],
  erase: [
    `(?:delete|erase|remove|forget|wipe|clear) (?:everything|all|all data|all the data|all information|anything) (?:that )?(?:you ${kept} )?(?:about|on|of) me`,
    `(?:delete|erase|wipe|remove|clear) (?:all )?(?:of )?my (?:data|memories)`,
    `(?:delete|erase|wipe|clear) (?:your|all|all your) memor(?:y|ies) (?:of|about) me`,
    `forget (?:all about )?me`,
  ],
  show: [
    `(?:tell me |show me )?what (?:all |exactly )?(?:do|did|have) you (?:actually |already )?${kept}(?: so far)? (?:about|on|of) me(?: so far)?`,
    `(?:tell me|show me) (?:what|everything|all)(?: that)? you ${kept} (?:about|on|of) me`,
    `what (?:data|information|info) do you (?:have|store|keep|hold) (?:about|on|of) me`,
  ],
  notices_off: [
    `stop (?:telling|notifying) me (?:what|when|whenever|that) you (?:remember|remembered|store|stored|save|saved)(?: things| something| it)?`,
    `(?:turn|switch) off (?:the |your )?(?:memory )?notices`,
    `(?:turn|switch) (?:the |your )?(?:memory )?notices off`,
    `no more (?:memory )?notices`,
  ],
  notices_on: [
    `(?:tell|notify) me (?:when|whenever|each time) you (?:remember|store|save) (?:things|something|anything)`,
    `(?:turn|switch) on (?:the |your )?(?:memory )?notices`,
    `(?:turn|switch) (?:the |your )?(?:memory )?notices (?:back )?on`,
  ],
  mode_off: [
    `stop noticing (?:things|anything|what i say)(?: about me)?`,
    `only remember what i (?:tell|ask) you to(?: remember)?`,
  ],
  mode_ask: [
    `(?:always )?ask me (?:first )?before (?:you ${store}|${storing}) (?:anything|something|things|stuff|facts)(?: (?:about me|i say|i tell you))?`,
  ],
  mode_auto: [`(?:start )?notic(?:e|ing) things(?: about me)? again`],
};

const mirNichts = '(?:nichts|nix)(?: mehr)?';
const german: Phrases = {
  pause: [
    `(?:merke?|behalte?) dir ${mirNichts}(?: (?:uber|von) mi(?:ch|r))?`,
    `speicher[en]? ${mirNichts}(?: (?:uber|von) mi(?:ch|r))?`,
    `hor(?:e)? auf (?:damit )?(?:dir )?(?:sachen |dinge |alles |etwas |informationen )?(?:uber mich )?zu (?:merken|speichern)`,
    `hor(?:e)? auf (?:dir )?zu (?:merken|speichern) was ich (?:sage|schreibe)`,
  ],
  this: [
    `merke? dir (?:das|dies|das hier) nicht`,
    `merke? dir nicht was ich (?:gerade |eben )?(?:gesagt|geschrieben) habe`,
    `das (?:sollst du|musst du) dir nicht merken`,
    `das nicht merken`,
    `speicher[en]? nicht was ich (?:gerade |eben )?(?:gesagt|geschrieben) habe`,
  ],
  forget: [
    `vergiss (?:das|dies|das wieder|was ich (?:gerade |eben )?(?:gesagt|geschrieben) habe)`,
    `(?:losche?|entferne) das (?:wieder )?aus (?:deinem|dem) (?:gedachtnis|speicher)`,
  ],
  undo: [`mache? (?:das|es|die letzte anderung) (?:wieder )?ruckgangig`],
  resume: [
    `du (?:darfst|kannst) dir wieder (?:alles |dinge |sachen |etwas )?merken`,
    `merke? dir (?:ab jetzt )?wieder (?:alles|dinge|sachen|was ich sage)`,
  ],
  export: [
    `(?:schicke?|sende?|gib|exportiere?) (?:mir )?(?:alle )?meine daten`,
    `(?:schicke?|sende?|gib) mir alles was du (?:uber|von) mi(?:ch|r) (?:gespeichert )?(?:hast|weisst)`,
  ],
  erase: [
    `(?:losche?|vergiss|entferne) alles (?:was du )?(?:uber|von) mi(?:ch|r)(?: weisst| gespeichert hast)?`,
    `losche? (?:alle )?meine daten`,
  ],
  show: [
    `was weisst du (?:alles |eigentlich |schon )?(?:uber|von) mi(?:ch|r)`,
    `was hast du (?:dir )?(?:alles |eigentlich )?(?:uber|von) mi(?:ch|r) (?:gespeichert|gemerkt)`,
  ],
};

const french: Phrases = {
  pause: [
    `arrete(?:z)? de (?:retenir|memoriser|enregistrer|stocker) (?:ce que je (?:dis|te dis)|des choses sur moi|quoi que ce soit sur moi|mes messages|mes donnees)`,
    `arrete(?:z)? de te souvenir de (?:moi|ce que je dis)`,
    `(?:ne retiens|ne memorise|n'enregistre|ne retenez|n'enregistrez) (?:plus )?rien(?: (?:sur|de) moi)?`,
  ],
  this: [
    `(?:ne retiens|ne memorise|n'enregistre|ne retenez|n'enregistrez) pas (?:ca|cela|ceci|ce que je (?:viens de dire|dis))`,
    `ne te souviens pas de (?:ca|cela|ceci)`,
  ],
  forget: [
    `oublie(?:z)? (?:ca|cela|ceci|ce que j'ai dit|ce que je viens de dire)`,
    `(?:efface|supprime) (?:ca|cela) de ta memoire`,
  ],
  undo: [`annule(?:z)? (?:ca|cela|la derniere modification|le dernier changement)`],
  resume: [
    `tu peux (?:a nouveau |de nouveau )?(?:retenir|memoriser) (?:des choses|ce que je dis)(?: a nouveau| de nouveau)?`,
    `recommence a (?:retenir|memoriser|enregistrer)(?: des choses| ce que je dis)?`,
  ],
  export: [
    `(?:envoie|donne|exporte|envoyez|donnez)(?:[- ]moi)? (?:toutes )?mes donnees`,
    `(?:envoie|donne)[- ]moi tout ce que tu (?:sais|as) sur moi`,
  ],
  erase: [
    `(?:supprime|efface|oublie) tout (?:ce que tu sais )?(?:sur|de) moi`,
    `(?:supprime|efface|supprimez|effacez) (?:toutes )?mes donnees`,
  ],
  show: [
    `que sais[- ]tu (?:sur|de|a propos de) moi`,
    `qu'est[- ]ce que tu (?:sais|as retenu|as enregistre) (?:sur|de|a propos de) moi`,
    `tu sais quoi (?:sur|de) moi`,
  ],
};

const spanish: Phrases = {
  pause: [
    `deja de (?:recordar|guardar|memorizar|almacenar|registrar) (?:cosas (?:sobre|de) mi|lo que (?:te )?digo|informacion (?:sobre|de) mi|mis datos|mis mensajes)`,
    `no (?:recuerdes|guardes|memorices) (?:mas )?nada(?: mas)?(?: (?:sobre|de) mi)?`,
  ],
  this: [
    `no (?:recuerdes|memorices) (?:esto|eso|lo que (?:acabo de decir|dije|te dije))`,
    `no guardes (?:lo que (?:acabo de decir|dije|te dije)|(?:esto|eso) en (?:tu|la) memoria)`,
  ],
  forget: [
    `olvida (?:esto|eso|lo que (?:acabo de decir|dije|te dije))`,
    `(?:borra|elimina) (?:esto|eso) de tu memoria`,
  ],
  undo: [`deshaz (?:esto|eso|el ultimo cambio)`, `deshazlo`],
  resume: [
    `(?:ya )?puedes (?:volver a )?recordar (?:cosas )?(?:sobre mi )?(?:de nuevo|otra vez)`,
    `(?:ya puedes|puedes) volver a recordar(?: cosas| lo que digo)?`,
    `vuelve a recordar (?:cosas|lo que digo)(?: sobre mi)?`,
  ],
  export: [
    `(?:enviame|mandame|dame|exporta) (?:todos )?mis datos`,
    `(?:enviame|mandame) todo lo que (?:sabes|tienes) (?:sobre|de) mi`,
  ],
  erase: [
    `(?:borra|elimina|olvida) todo (?:lo que sabes )?(?:sobre|de|acerca de) mi`,
    `(?:borra|elimina) (?:todos )?mis datos`,
  ],
  show: [`que (?:sabes|recuerdas|has guardado|tienes guardado) (?:sobre|de|acerca de) mi`],
};

const aboutMeRussian = '(?:обо мне|про меня)';
const russian: Phrases = {
  pause: [
    `(?:перестань|прекрати|хватит)(?:те)? (?:запоминать|сохранять|записывать) (?:меня|что я (?:говорю|пишу)|то что я (?:говорю|пишу)|все что я (?:говорю|пишу)|(?:все |что-то |информацию )?${aboutMeRussian})`,
    `(?:больше )?(?:ничего )?не (?:запоминай|сохраняй|записывай)(?:те)? (?:больше )?(?:ничего|ничего ${aboutMeRussian}|${aboutMeRussian} ничего)`,
  ],
  this: [
    `не запоминай(?:те)? (?:это|этого|(?:то )?что я (?:сейчас )?сказала?)`,
    `это(?:го)? не запоминай(?:те)?`,
    `не сохраняй(?:те)? (?:то )?что я (?:сейчас )?сказала?`,
  ],
  forget: [
    `забудь(?:те)? (?:это|то что я (?:сейчас |только что )?сказала?|что я (?:сейчас |только что )?сказала?)`,
    `(?:удали|сотри)(?:те)? это из (?:своей )?памяти`,
  ],
  undo: [`отмени(?:те)? (?:это|последнее изменение)`],
  resume: [
    `(?:ты )?можешь (?:снова|опять) (?:запоминать|сохранять)`,
    `(?:снова|опять) запоминай(?:те)?`,
    `запоминай(?:те)? (?:снова|опять)`,
  ],
  export: [
    `(?:пришли|отправь|вышли|дай|экспортируй)(?:те)? (?:мне )?(?:все )?мои данные`,
    `(?:пришли|отправь|вышли)(?:те)? (?:мне )?все что (?:ты )?знаешь ${aboutMeRussian}`,
  ],
  erase: [
    `(?:удали|сотри|забудь)(?:те)? все (?:что (?:ты )?знаешь )?${aboutMeRussian}`,
    `(?:удали|сотри)(?:те)? (?:все )?мои данные`,
  ],
  show: [
    `что ты ${aboutMeRussian} (?:знаешь|помнишь|запомнила?|хранишь)`,
    `что ты (?:знаешь|помнишь|запомнила?|хранишь) ${aboutMeRussian}`,
  ],
};

const watashi = '(?:私|わたし|僕|ぼく|俺)';
const please = '(?:ください|下さい|くれ|ほしい|欲しい|ね|よ|お願いします|もらえますか|くれますか|くれる)?';
const notStoring = `(?:覚えないで|記憶しないで|保存しないで|記録しないで)${please}`;
const sore = '(?:これ|それ|このこと|そのこと|今の|今の話|さっきの話|今言ったこと|さっき言ったこと)';
const japanese: Phrases = {
  pause: [
    `${watashi}のこと(?:は|を)?(?:もう)?(?:何も)?${notStoring}`,
    `(?:もう)?何も${notStoring}`,
    `記憶を(?:止めて|停止して|一時停止して)${please}`,
    `${watashi}のことを(?:覚える|記憶する|記録する)のを?(?:やめて|止めて)${please}`,
  ],
  this: [`${sore}(?:は|を)?${notStoring}`, `オフレコで${please}`],
  forget: [`${sore}(?:は|を)?忘れて${please}`, `${sore}を記憶から(?:消して|削除して)${please}`],
  undo: [`(?:${sore}|最後の変更|今の変更|さっきの変更)を?(?:取り消して|元に戻して)${please}`],
  resume: [`また(?:覚えて|記憶して)(?:いいよ|もいい|もいいよ|いいです)?${please}`, `記憶を再開して${please}`],
  export: [`${watashi}の(?:すべての|全ての)?データを(?:全部)?(?:送って|エクスポートして|渡して)${please}`],
  erase: [
    `${watashi}の(?:すべての|全ての)?(?:データ|情報|記憶|こと)を?(?:すべて|全て|全部)?(?:削除して|消して|消去して)${please}`,
    `${watashi}のこと(?:は|を)?(?:すべて|全て|全部)忘れて${please}`,
  ],
  show: [
    `${watashi}(?:のこと|について)(?:は|を|で)?(?:何|なに|どんなこと)を?(?:知って|覚えて)(?:いますか|いるの|いる|るの|る|ますか|ます|いるか)`,
  ],
};

const languages = [english, german, french, spanish, russian, japanese];
const patterns: readonly (readonly [Wish, RegExp])[] = wishes.map((wish) => {
  const phrases = languages.flatMap((language) => language[wish] ?? []);
  return [wish, new RegExp(`^(?:${withoutAccents(phrases.join('|'))})$`, 'u')];
});

/** Longer than any of the phrases. */
const clauseMaxChars = 120;

/** What may stand around a wish: forms of politeness, interjections, and who is spoken to. */
const before = new RegExp(
  withoutAccents(
    "^(?:please|pls|hey|hi|ok|okay|no|nope|yes|and|so|oh|wait|well|actually|sorry|now|then|also|can you|could you|would you|will you|can you please|you should|i want you to|bitte|kannst du|konntest du|nein|ok bitte|und|s'il te plait|peux-tu|peux tu|tu peux|non|et|por favor|puedes|podrias|no por favor|y|oye|пожалуйста|можешь|нет|а|и|ну|ладно|すみません|お願い|ねえ|じゃあ|では) ",
  ),
  'u',
);
const after = new RegExp(
  withoutAccents(
    "(?: please| pls| now| right now| again please| ok| okay| thanks| thank you| anymore| any more| for now| from now on| forever| too| bitte| jetzt| danke| mehr| s'il te plait| stp| maintenant| merci| por favor| ahora| gracias| пожалуйста| сейчас| спасибо)$",
  ),
  'u',
);

const politeInside = / (?:please|bitte|пожалуиста)(?= )/gu;

/** A sentence that only supposes, asks how, or tells what somebody said. */
const supposes =
  /^(?:if|when|whenever|unless|suppose|imagine|how|why|who|wenn|falls|warum|wie|comment|pourquoi|quand|cuando|como|por que|если|когда|почему|как) |^もし|(?<!(?:^|\s)(?:i|я)(?: just| ever| сейчас| только что)?)(?:^|[\s,:])(?:said|says|say|saying|told|tells|tell him|tell her|asked|asks|wrote|writes|called|sagte|sagt|schrieb|disait|dijo|dice|сказал|сказала|говорит|пишет)(?=[\s,:]|$)|と(?:言|い)/u;

/** Speech in quotation marks, which is somebody's, not the speaker's wish. */
const speech = /["“”„«「][^"“”„«»「」\n]*["“”»」]/gu;

/**
 * What the speaker asks of their memory in their own words, in English, German, French, Spanish, Russian or Japanese: clauses that say nothing else.
 * Nobody else's text counts [M5a]: no quotes, no code, no names.
 */
export function wishesIn(messages: readonly string[]): ReadonlySet<Wish> {
  return new Set(messages.flatMap((message) => sentencesOf(message).flatMap(wishesOfSentence)));
}

/** How a wish to have something remembered begins; what is to be remembered follows. */
const remembering = new RegExp(
  withoutAccents(
    "^(?:(?:remember|memori[sz]e|note|save|store|keep in mind|do not forget|don'?t forget|(?:make|take) a? ?note)(?! (?:when|how|the time|me|again)\\b)|(?:merke? dir|behalte|notiere?|speicher[en]?)(?! nicht|.* nicht?s?$)|vergiss nicht|souviens[- ]toi|retiens|n'oublie pas|memorise|recuerda|no olvides|anota|memoriza|guarda|запомни|не забудь|запиши|сохрани)(?=[ :,]|$)|(?:覚えて|記憶して|忘れないで)",
  ),
  'u',
);

/** Whether the speaker asks, in their own words, to have something remembered [M9]. */
export function asksToRemember(messages: readonly string[]): boolean {
  return messages
    .flatMap(sentencesOf)
    .some((sentence) => !supposes.test(sentence) && remembering.test(bare(sentence)));
}

function sentencesOf(message: string): readonly string[] {
  return ownWords(message)
    .replace(speech, ' " ')
    .split(/[.!?;…。！？\n]/u)
    .map(folded);
}

/** Lower case without accents, inverted marks and the typographer's apostrophes. */
function folded(text: string): string {
  return withoutAccents(normalizeText(text))
    .replace(/[¿¡*_~]/gu, '')
    .replace(/[’‘`´]/gu, "'")
    .replace(/ß/gu, 'ss')
    .trim();
}

function withoutAccents(text: string): string {
  return text
    .normalize('NFD')
    .replace(/[\u0300-\u036f]/gu, '')
    .normalize('NFC');
}

function wishesOfSentence(sentence: string): readonly Wish[] {
  if (sentence === '' || supposes.test(sentence)) return [];
  const clauses = sentence.split(/[,，、:()]| - | – | — /u).map((clause) => clause.trim());
  const parts = clauses.filter((clause) => clause !== '');
  const whole = parts.join(' ');
  if (parts.length < 2) return wishesOf(whole);
  const ends = parts.findLastIndex((clause) => bare(clause) !== '');
  return [
    ...wishesOf(whole),
    ...parts.flatMap((clause, index) =>
      // "Forget that, let us …" is a turn of phrase.
      wishesOf(clause).filter((wish) => index === ends || (wish !== 'forget' && wish !== 'undo')),
    ),
  ];
}

function wishesOf(clause: string): readonly Wish[] {
  if (clause.length > clauseMaxChars) return [];
  const forms = new Set([clause, bare(clause)]);
  return patterns.flatMap(([wish, pattern]) => ([...forms].some((form) => pattern.test(form)) ? [wish] : []));
}

/** A clause without what stands around a wish; a few times, as politeness goes. */
function bare(clause: string): string {
  let words = `${clause.replace(politeInside, '')} `;
  for (let left = 4; left > 0; left -= 1) words = words.replace(before, '');
  words = ` ${words.trim()}`;
  for (let left = 3; left > 0; left -= 1) words = words.replace(after, '');
  return words.trim();
}
