/** Of plain text, where nothing else than white space and `@` is between words: a class of all letters takes many times as long to compile. */
const letter = String.raw`[^\s@]`;

/**
 * A list of words and phrases as one expression over plain text (see `plain` in clauses.ts): `_` stands for a space, `*` for any ending.
 * What stands after `inside:` counts also within a run of characters, for scripts without spaces.
 */
function anyOf(list: string): RegExp {
  const [spaced = '', inside = ''] = list.split('inside:');
  const words = alternatives(spaced).map((word) =>
    word
      .replaceAll('_', ' ')
      .replaceAll('*', `${letter}*`)
      .replaceAll(String.raw`\p{L}`, letter),
  );
  const bounded = `(?<!${letter})(?:${words.join('|')})(?!${letter})`;
  return new RegExp([bounded, ...alternatives(inside)].join('|'), 'gu');
}

function alternatives(list: string): readonly string[] {
  return list.split(/\s+/u).filter((word) => word !== '');
}

/**
 * The kinds of words that turn the meaning of a statement [M5a]. A statement proves an item only where both hold the same kinds: whoever is
 * allergic to something does not love it, and whoever wants something does not have it.
 */
export const turningWords = {
  not: anyOf(`
    not no never none neither nor without cannot nothing nobody non anything_but far_from 0(?=_\\p{L}) zero
    nicht kein keine keinen keinem keiner keines nie niemals ohne nichts weder
    ne(?:_\\p{L}+){1,3}_(?:plus|guère) pas jamais sans aucun aucune rien ni
    nunca tampoco sin ningún ninguna ningun nada jamás
    não nunca sem mai senza niet geen nie bez nigdy
    не нет ни никогда без нельзя ничего никого
    inside: [不没沒無] ない ません なく じゃな 않 없
  `),
  like: anyOf(`
    like likes liked loves? loved loving liking prefer prefers preferred enjoy enjoys enjoyed enjoying adore adores fond favou?rites? fan
    mag magst mögen möge mochte liebe liebt lieben geliebt bevorzug* gern gerne lieber am_liebsten lieblings*
    aime aimes aimons adore adorons préfère préfères préférons préféré préférée préférés prefere
    gusta gustan gustaba encanta encantan encantaba amo ama prefiero prefiere adoro adora favorit[oa]s?
    gosto gosta prefiro
    люблю любит любим любил любила нравится нравятся нравилось обожаю обожает предпочита* любим(?:ый|ая|ое|ые)
    inside: 好き 大好 喜欢 喜歡 爱 愛 偏好 更喜
  `),
  dislike: anyOf(`
    hate hates hated hating dislike dislikes disliked detest detests avoid avoids avoided avoiding despise despises loathe loathes
    hasse hasst verabscheu* vermeide vermeidet meide meidet
    déteste détestes hais évite évites
    odio odia odiaba detesto detesta evito evita odeio
    ненавижу ненавидит избегаю избегает
    inside: 嫌い 嫌 避け 讨厌 討厭 恨 避免
  `),
  allergic: anyOf(`
    allergic allergy allergies allergisch allergie allergien allergiker* allergique allergiques allergies alérgic[oa]s? alergic[oa]s? alergias? alèrgic*
    аллерги* inside: アレルギー 过敏 過敏
  `),
  intolerant: anyOf(
    `intolerant intolerance intoleranz intolérant* intolérance intolerante intolerancia непереносимост* free frei`,
  ),
  intent: anyOf(`
    want wants wanted wanting (?<!(?:am|is|are|called|named|name|me)_)will plan plans planned planning hope hopes hoping intend intends aim aims
    tr(?:y|ies|ied|ying)_to going_to_(?:be|become|have|live|work|move|start|learn|study|buy|get|marry|quit|go|make|write|build|try|do|see|visit|take|use|stop|adopt)
    dream_of dreams_of dreaming_of about_to considering looking_for looking_to thinking_of thinking_about would_like someday one_day next_(?:year|month|week)
    willst wollen möchte möchten moechte plane plant hoffe hofft werde wird versuche versucht überlege träume_von träumt_von
    veux veut voudrais espère essaie essaye rêve_de vais(?!_(?:à|a|au|aux|en|chez|bien)(?!\\p{L}))
    quiero quiere quisiera espero espera voy_a va_a planeo intento sueño_con quero
    хочу хочет хотим планирую планирует собираюсь собирается надеюсь буду будет пытаюсь попробую мечтаю мечтает
    inside: たい つもり 予定 ほしい 欲しい (?<!不)想 打算 希望 要(?=[买買去学學]) 计划
  `),
  ought: anyOf(`
    should must ought need needs needed needing have_to has_to had_to supposed_to
    soll solle sollte muss müsste brauche braucht müssen
    dois doit devrais faut besoin
    debo debe debería deberia tengo_que tiene_que necesito necesita
    должен должна надо нужно нужен нужна пора
    inside: べき なければ 必要 应该 應該 必须 必須
  `),
  maybe: anyOf(`
    maybe perhaps might (?<=(?:i|we)_)may probably possibly presumably likely unsure not_sure could
    vielleicht wahrscheinlich vermutlich möglicherweise könnte eventuell
    peut_être probablement pourrais sans_doute
    quizás quizá quizas tal_vez a_lo_mejor probablemente podría podria puede_que
    возможно наверное наверно вероятно может_быть похоже
    inside: かもしれ 多分 たぶん でしょう だろう 也许 也許 可能 大概
  `),
  seldom: anyOf(
    `rarely seldom hardly barely scarcely selten kaum rarement rara_vez apenas редко едва inside: 很少 めったに`,
  ),
  almost: anyOf(`almost nearly beinahe presque casi почти inside: 差点 差點 ほとんど`),
  ended: anyOf(`
    stopped stop quit quitting sold selling lost left gave_up giving_up broke_up
    aufgehört verkauft verloren gekündigt verlassen
    arrêté arrêtée quitté vendu perdu
    dejé dejado vendí vendido perdí perdido
    бросил бросила перестал* продал* потерял* уволил*
    inside: 辞め やめ 戒了 卖了 賣了
  `),
  past: anyOf(`
    used_to formerly former ex previously once_was
    (?<!(?:have|has|having|am|is|are|be|been|get|got|being)_(?:\\p{L}{1,20}_)?)(?:lived|worked|had|owned|knew|spoke|studied|loved|liked|hated|preferred|wanted|did|smoked|disliked|enjoyed|needed|were)
    (?<!(?:have|has|am|is|are|be|been|get|got|being)_(?:\\p{L}{1,20}_)?)used
    (?<!(?:das|alles|etwas|weiß)_)was(?!_(?:born|raised|diagnosed|named|ist|kann|soll|mache|ich))
    war warst waren hatte hatten wohnte lebte arbeitete mochte liebte hasste früher ehemalig* damals
    (?:habe|hab|hat|haben|bin|ist)_(?:\\p{L}+_){0,8}(?:gewohnt|gelebt|gearbeitet|gehabt|gewesen|studiert|gemocht|geliebt|gespielt|geraucht|benutzt)
    étais était habitais habitait vivais vivait travaillais travaillait aimais aimait avais avait étudiais détestais autrefois ancien ancienne
    (?:ai|as|a)_(?:\\p{L}+_){0,2}(?:habité|vécu|travaillé|aimé|étudié|été|eu|fumé|détesté|joué|utilisé)
    era eras vivía vivia vivió viví trabajaba trabajé trabajó tenía tenia tuve tuvo fui fue estaba estuve gustaba odiaba solía quería \\p{L}{2,}(?:aba|aban|ábamos)
    был была были жил жила жили работал работала учился училась любил любила ненавидел имел имела играл играла курил курила говорил раньше когда_то бывший бывшая
    inside: (?:た|でした|だった|ました)(?=\\s*$) 以前 昔 曾 过去 過去 之前
  `),
} as const;

export type Turn = keyof typeof turningWords;

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- these are its keys, in their order
export const turns = Object.keys(turningWords) as Turn[];

/** Kinds whose words say nothing beyond their kind: `loves` proves `likes`. The words of the others have to stand in the quote too. */
export const interchangeable: ReadonlySet<Turn> = new Set([
  'not',
  'like',
  'dislike',
  'allergic',
  'intent',
  'ought',
  'maybe',
  'almost',
  'past',
]);

/** What somebody has to do with a place: who works there need not live there. */
export const bonds = [
  anyOf(
    `live lives living moved relocated umgezogen déménagé déménagée mudé mudó переехал переехала wohn* leb(?:e|t|en) habite habites vis vit vivo vive vivimos живу живет живем inside: 住`,
  ),
  anyOf(`work works working arbeit* travaille trabajo trabaja работаю работает inside: 勤 働 工作`),
  anyOf(`study studies studying studier* étudie estudio estudia учусь учится`),
  anyOf(
    `(?<!away_)from born grew_up geboren aufgewachsen née? origen naci родился родилась visit* visiting travell?ing trip besuche visite visito flying`,
  ),
] as const;

/** Verbs that only join a person to what is said about them; the rest of the item carries the meaning [M5a]. */
export const neutralWords = anyOf(`
  works? working lives? living uses? using owns? owned knows? speaks? study studies studying lived worked used studied had
  name names named call called currently now today been got get gets getting come comes came years? days
  habe hab hast hat haben wohn(?:e|t|en) lebe lebt leben arbeit(?:e|et|en) nutz(?:e|t) benutz(?:e|t) verwende verwendet kenne kennt kann
  spreche spricht sprechen studiere studiert heiße heißt heisse heisst name jetzt derzeit gerade
  ai as avons habite vis vit travaille utilise parle connais connaît étudie nomme appelle maintenant
  tengo tiene tenemos vivo vive trabajo trabaja uso usa hablo habla conozco conoce estudio estudia llamo llama nombre ahora
  живу живет живем работаю работает использую использует знаю знает говорю говорит зовут сейчас есть имею имеет теперь
`);

/** Words that say nothing by themselves, beyond those of `stop-words.ts`. */
export const moreFillers = anyOf(`
  u really very actually still also too just lol haha btw etc some any all always usually mostly these those
  ich mich mir mein meine meinen meinem meiner meines wir uns unser unsere du sie ist bin bist sind sein seine
  der die das den dem des ein eine einen einem einer ne nen nem und oder aber auch in im an am auf bei beim mit nach von vom zu zum zur aus für gegen seit als so doch ja es schon übrigens sehr sich
  je me moi mon ma mes nous notre nos tu te se suis es est sommes le la les un une des du de au aux à et ou mais en dans sur avec pour par chez depuis que qui il elle sa son ses y très aussi ce
  yo mi mis nos nuestr[oa]s? soy eres somos estoy está están es el los las uno unos unas del al y o e pero con por para desde lo le les se su sus muy también en a
  сюда у меня мне мной нас нам очень уже тоже даже кстати
`);

/** Attributes of a person: a sentence about one of them is about the person. */
export const attributes = anyOf(`
  name names nickname age job work profession role birthday pronouns hobby hobbies favou?rites? timezone time_zone nationality home hometown city address diet
  allergy allergies goal goals dream native mother_tongue first_language email height weight condition setup stack editor os workflow preference preferences
  beruf hobby hobbys alter geburtstag lieblings* muttersprache heimat heimatstadt zeitzone
  nom prénom âge métier travail anniversaire préféré* loisir pronoms langue
  nombre edad profesión profesion cumpleaños favorit[oa]s? idioma pronombres
  имя возраст работа профессия хобби любим* родной
`);

/** What may stand between a subject and its verb. */
export const adverbs = anyOf(`
  also just really still mostly usually always often sometimes only never now currently actually even literally basically totally mainly already recently do does did not
  (?!fly|apply|reply|rely|supply)\\p{L}{2,}ly ended_up tend_to happen_to keep
  auch nur noch meistens immer oft manchmal jetzt gerade eigentlich wirklich hab habe bin ne n y en
  тоже уже сейчас обычно всегда часто очень
`);

/** The speaker as the one of whom something is said. */
export const firstPerson = anyOf(`
  i we me_and ich wir mir je j nous moi yo nosotros nosotras я мы у_меня у_нас мне меня нам
  call_me my_own
  me_(?:gusta|gustan|encanta|encantan|llamo|mudé|mude|interesa|da|dan|duele|dedico)
  inside: [私僕俺] 我(?!(?:[的们們])?(?:[姐妹哥弟爸妈媽父母朋同儿]|老[板师公婆]|女[儿朋友]|男[朋友]|奶奶|爷爷))
`);

export const possessives = anyOf(`
  my our mein(?:e|en|em|er|es)? unser(?:e|en|em|er|es)? mon ma mes notre nos mi mis nuestr[oa]s? meu minha
  мой моя мое мои моего мою моей моих моим моему наш наша наши
`);

/** Others as the ones of whom something is said. */
export const otherPerson = anyOf(`
  he she they you it's_him everyone everybody someone somebody people nobody anyone who
  er sie du ihr man jeder alle jemand
  il elle ils elles tu vous on_dit
  él ella ellos ellas usted ustedes tú todos les?_(?:gustan?|encantan?|interesan?|duelen?|molestan?)
  он она они ты вы все кто
  mom mum dad mama papa mutter vater maman мама папа сестра брат муж жена друг подруга
  inside: ^[他她你您] ^我(?:[的们們])?(?:[姐妹哥弟爸妈媽父母朋同儿]|老[板师公婆]|女[儿朋友]|男[朋友]|奶奶|爷爷) [姉兄妹弟母父娘夫妻彼](?=[はがも女]|さん|氏) 友達 上司 ^[妈媽爸]
`);

/** Verbs in a form that nobody uses of themselves. */
export const thirdPersonVerbs = anyOf(`
  is has does loves likes prefers enjoys hates dislikes avoids lives works uses owns knows speaks studies wants needs plays eats drinks
  says said thinks thought told tells believes claims wrote writes was moved goes makes runs reads sleeps smokes cooks keeps teaches collects drives
  codes builds manages drove taught gave lived worked used loved liked hated wanted became comes came gets got feels seems looks needs sings swims rides
  ist hat liebt hasst mag wohnt lebt arbeitet heißt spricht isst trinkt spielt studiert bevorzugt sagt sagte meint glaubt
  est habite vit travaille adore aime déteste préfère dit pense parle mange joue
  vive trabaja tiene habla prefiere odia adora dice dijo piensa cree come juega
  живет работает любит ненавидит говорит сказал сказала думает считает знает учится хочет предпочитает ест пьет играет
`);

/** The first of these begins a clause of its own where the speaker does not stand before it: `people love Go`. */
export const plainVerbs = anyOf(
  `love like hate prefer live work use have enjoy own are say think speak eat drink play know want need study`,
);

/** Verbs in a form that in these languages is never the speaker's, where no subject stands before them. */
export const copulas = anyOf(`is are was ist war est es son sind sont это`);

/** To say or believe something: what follows is the speaker's only where they are the one who says it. */
export const speech = anyOf(`
  says? said (?<!i_(?:am|was)_)(?:saying|claiming) tells? told thinks? thought claims? claimed believes? believed assumes? assumed wrote writes insists? heard
  sagt sagte sagen meint meinte meinen behauptet glaubt findet erzählt schrieb
  dit disent pense pensent prétend croit écrit
  dice dicen dijo piensa piensan cree creen escribió
  говорит говорят сказал сказала думает считает считают пишет написал
  inside: と言 って言 说 說 觉得 覺得
`);
/** Somebody unnamed says what follows, or the speaker is not sure of it. */
export const hearsay = anyOf(`
  not_(?:sure|certain|true|think|believe) doubts? according_to apparently allegedly supposedly was_told rumou?r_has
  nicht_sicher glaube_nicht bezweifle pas_sûre? pense_pas crois_pas doute no_creo dudo не_уверена? не_думаю сомневаюсь
  laut angeblich selon d_après según segun al_parecer por_lo_visto по_словам якобы
  inside: らしい だそう 据说 據說 听说 聽說
`);

/** What is not said as a statement, up to the end of the sentence. */
export const supposition = anyOf(`
  if unless suppose supposing assume assuming provided_that imagine imagining pretend pretending let_us_say lets_say let_s_say say_i_am hypothetically what_if
  wish wishes wishing whether wonder wondering
  in_(?:my|a|the|his|her|this)_(?:dream|dreams|story|novel|book|game|movie|film|song|roleplay|campaign|lyrics) my_character role_?play
  wenn falls sofern angenommen stell_dir_vor als_ob ob wünsch(?:e|te) im_traum
  si(?=_\\p{L}) imagine imaginons supposons
  imagina imagínate supongamos ojalá ojala
  если представь допустим предположим будто ли
  inside: もし たら れば なら 如果 要是 假如 假设 假設 倘若 的话
`);
/** Of one clause only. */
export const unreal = anyOf(`
  would were_i i_were
  wäre wären würde würden hätte hätten
  (?!frais|vrais|marais)\\p{L}{2,}rais
  (?:^|(?<=(?:me|yo|no)_))\\p{L}+[aei]r[íi]a fuera tuviera viviera pudiera
  бы б
  inside: 就好了 いいのに いいな
`);
/** Conditions that are none: `if that helps`. */
export const politeConditions =
  /\bif (?:that|it|this|you|anyone|anybody|i)(?: (?:am|are|is))? ?(?:matters|helps|makes|relevant|wondering|curious|must know|want to know|cares|counts|remember correctly|recall correctly|honest|being honest|asks?|need to know)\b[^]*|\beven if\b/gu;

/** Somebody asks for work on a text: what follows is the text. */
export const tasks = anyOf(`
  translate translation rewrite rephrase proofread paraphrase repeat_after write_(?:a|an|me|this|the|in) spell how_do_(?:you|i)_say how_to_say what_does say_(?:this|it|the|that)
  summari[sz]e_this fix_this fix_the correct_this correct_the repeat
  übersetz* schreib schreibe korrigiere wie_sagt_man
  traduis traduire écris corrige comment_dit_on
  traduce traduzca traducir escribe cómo_se_dice como_se_dice
  переведи напиши исправь как_сказать
  inside: 翻译 翻譯 翻訳 訳して
`);

/** Takes back what was said before it. */
export const jokes = anyOf(`
  just_kidding only_kidding kidding jk j_k joking not_really april_fools sarcasm sarcastic
  nur_spaß nur_spass war_ein_scherz scherz kleiner_scherz
  je_plaisante je_rigole je_blague
  es_broma era_broma bromeo es_coña
  шучу шутка
  inside: 冗談 开玩笑 開玩笑
`);

/** Polite and idle words before a statement. */
export const openings =
  /^(?:(?:hi|hey|hello|well|oh|ah|so|also|and|but|btw|by the way|fyi|actually|yes|yeah|yep|yup|ok|okay|please|lol|haha|honestly|anyway|wait|no wait|nope|sorry|fun fact|just so you know|for the record|(?:(?:can|could|would|will) you )?(?:please )?(?:remember|note|keep in mind|memori[sz]e|do not forget|save)(?: that)?|you should know(?: that)?|no(?= (?:i|ich|je|yo|wait|we)\b)|ja|nein(?= ich)|also|übrigens|ach|hallo|bitte|naja|eigentlich|oui|non(?= (?:je|j)\b)|ben|bah|alors|en fait|au fait|salut|bonjour|que|sí|hola|bueno|pues|en realidad|por cierto|oye|да|нет(?= я)|ну|кстати|привет|вообще|на самом деле|и|а|но|why do you ask)(?![\p{L}\p{M}\p{N}]) ?)+/u;

/** A sentence that begins like this asks, with or without its mark. */
export const interrogatives =
  /^(?:(?:do|does|did|am|is|are|was|were|have|has|had|can|could|should|would|will|shall|may|might|must)(?: not)? (?:i|you|we|he|she|it|they|there|this|that|anyone|anybody|someone|somebody)\b|(?:is|are|was|were|does|did) my\b|(?:what|who|whom|which|where|when|why|how)(?: \p{L}+)? (?:is|are|am|was|were|do|does|did|can|could|should|would|will|has|have|shall)\b|(?:what|how) about\b|any \p{L}+|(?:bin|mag|kann|darf|soll|muss|will|weiß|war|hab|\p{L}+e) ich\b|(?:ist|sind|hast|bist|kannst|weißt|magst) (?:du|mein\p{L}*|das|er|sie|es|ihr|wir)(?![\p{L}])|(?:was|wer|wo|wann|warum|wie|welche\p{L}*|wohin) (?!ich)\p{L}+|est ce|qu est|quel\p{L}*|où|comment|pourquoi|(?:suis|ai|dois|puis|peux|aime|vis|\p{L}+e) je\b|(?:as|es|peux|connais|sais) tu\b|qué|cuál|cuáles|dónde|cuándo|quién|cómo|\p{L}+ ли(?!\p{L}))/u;

/** At the end of a clause in scripts that mark a question there. */
export const askingEnd = /(?:か|かな|っけ|吗|嗎|呢)\s*$/u;
/** A short question after a statement that makes it one. */
export const tags =
  /^(?:right|no|or not|or|correct|yes|huh|eh|oder|nicht wahr|non|n est ce pas|verdad|no es así|да|правда|(?:do|does|did|am|is|are|was|were|have|has|can|should|would|will) (?:not )?(?:i|it|we|they)(?: not)?)$/u;

/** Forms of one word that no stemmer brings together. */
export const irregularForms: ReadonlyMap<string, string> = new Map(
  `esse isst essen | ем ест едим | пью пьет пьем | fahre fährt | lese liest | schlafe schläft | nehme nimmt | trage trägt | bois boit | lis lit | fais fait
   duermo duerme | juego juega | me he se ha | conduzco conduce | хожу ходит | вожу водит | играю играет | child children | have has | go goes
   пишу пишет | учу учит | prends prend | cours court | écris écrit`
    .split('|')
    .flatMap((group) => {
      const [base = '', ...forms] = group.trim().split(' ');
      return forms.map((form) => [form, base] as const);
    }),
);
