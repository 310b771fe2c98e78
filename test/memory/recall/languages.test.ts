import { expect, it } from 'vitest';

import { dmPlace } from '../../support/sessions.ts';
import { openRecall } from './open-recall.ts';

/** What was said in a language, a line each, with a question about it; the others' lines are in the way of each. */
const talks = {
  German: `
Meine Schwester heiratet im September in Lübeck | In welcher Stadt findet die Hochzeit der Schwester statt, wo heiratet sie?
Der Hund heißt Bruno und ist neun Jahre alt | Wie heißen die Hunde?
Am Dienstag war ich beim Zahnarzt wegen einer Füllung | Wann hatte ich den Zahnarzttermin?
Mein Bruder arbeitet als Krankenpfleger in Kiel | Wo arbeitete der Bruder?
Im Garten wachsen dieses Jahr viele Tomaten | Was wuchs in unseren Gärten?
Ich vertrage keine Nüsse | Habe ich eine Nussallergie?
Mein Lieblingsbuch ist der Zauberberg | Was sind meine Lieblingsbücher?
Gestern haben wir einen Kuchen gebacken | Wann habe ich den letzten Kuchen backen wollen?
Ich trinke morgens nur grünen Tee | Was trank ich am Morgen?
Im Chor singen wir gerade Bach | Was sang der Chor?`,
  Russian: `
Моя сестра выходит замуж в сентябре в Казани | Где у сестры свадьба, где она вышла замуж?
Собаку зовут Бруно, ей девять лет | Как зовут моих собак?
Во вторник я был у стоматолога | Когда я ходил к стоматологам?
Мой брат работает медбратом в Перми | Где работал брат?
В саду растёт много помидоров | Что росло в садах?
У меня аллергия на орехи | На что я аллергик, какие орехи?
Моя любимая книга — Идиот | Какие книги у меня любимые?
Вчера мы пекли лимонный пирог | Какие пироги мы испекли?
Утром я пью только зелёный чай | Что я пил по утрам?
В хоре мы поём Баха | Что пели хоры?`,
  Japanese: `
妹は九月に金沢で結婚します | 妹の結婚はいつですか
犬の名前はブルーノで九歳です | 犬の名前は何ですか
火曜日に歯医者へ行きました | 歯医者はいつでしたか
兄は札幌で看護師をしています | 兄の仕事、看護師の場所は
庭でトマトがたくさん育っています | 庭に何が育つ
私はナッツのアレルギーがあります | 何のアレルギーか
好きな本は雪国です | 好きな本は何
昨日レモンケーキを焼きました | 何のケーキを焼いた
朝は緑茶だけ飲みます | 朝に飲むお茶
合唱団でバッハを歌っています | 合唱団は何を歌う`,
  Chinese: `
我妹妹九月在苏州结婚 | 妹妹什么时候结婚
我的狗叫布鲁诺，九岁了 | 我的狗叫什么名字
星期二我去看了牙医 | 什么时候看的牙医
我哥哥在成都当护士 | 哥哥在哪里当护士
花园里长了很多番茄 | 花园里长了什么
我对坚果过敏 | 我对什么过敏
我最喜欢的书是围城 | 最喜欢的书是哪本
昨天我们烤了柠檬蛋糕 | 烤了什么蛋糕
早上我只喝绿茶 | 早上喝什么茶
合唱团在唱巴赫 | 合唱团唱什么`,
};

const linesOf = (talk: string) =>
  talk
    .trim()
    .split('\n')
    .map((line) => line.split(' | '));

it.each(Object.entries(talks))(
  'finds in %s what answers at least 8 of 10 questions within the first five [C1]',
  async (_, talk) => {
    const { say, find, time } = openRecall();
    const pairs = linesOf(talk);
    expect(pairs).toHaveLength(10);
    for (const [said = ''] of pairs) {
      await say(said, dmPlace);
      time.now += 20 * 60 * 1000;
    }
    const missed: string[] = [];
    for (const [said = '', question = ''] of pairs)
      if (!(await find(question, { limit: 5 })).includes(said)) missed.push(question);
    expect(missed.length > 2 ? missed : []).toEqual([]);
  },
);

it.each([
  [
    'German',
    'Ich habe das Fahrrad hinter dem Bahnhof abgestellt',
    'Wo ist mein Fahrrad?',
    'Ich weiß nicht, wo dein Fahrrad ist.',
  ],
  [
    'Japanese',
    '自転車は駅の裏に置きました',
    '私の自転車はどこですか',
    'あなたの自転車がどこにあるか分かりません。',
  ],
  ['Chinese', '我把自行车停在车站后面', '我的自行车在哪里？', '我不知道你的自行车在哪里。'],
] as const)(
  'has in %s what was said before the bot’s own "I do not know" [C1]',
  async (language, said, question, unknown) => {
    const { turn, find, time } = openRecall();
    for (const [fact = '', asked = ''] of linesOf(talks[language])) {
      await turn(asked, fact, dmPlace);
      time.now += 2 * 60 * 60 * 1000;
    }
    for (const [asked, answered] of [
      [question, unknown],
      [said, 'Ok.'],
    ] as const) {
      await turn(asked, answered, dmPlace);
      time.now += 2 * 60 * 60 * 1000;
    }
    const found = await find(question, { limit: 10 });
    expect(found).toContain(said);
    expect(found.indexOf(said)).toBeLessThan(found.includes(unknown) ? found.indexOf(unknown) : Infinity);
  },
);

it.each([
  ['夕食にスープを作ります', '夕食に何を作りますか', '夕食は何を作りますか'],
  ['Το ποδήλατό μου είναι στο υπόγειο', 'Πού είναι το ποδήλατό μου;', 'Πού είναι το ποδήλατό μου;'],
  ['自転車は駅の裏に置きました', '自転車どこだっけ', '自転車どこに置いたっけ'],
])('finds %s before %s, which asks without a mark [C1]', async (said, asked, query) => {
  const { turn, find, time } = openRecall();
  for (const text of [asked, said, ...linesOf(talks.Japanese).flat()]) {
    await turn(text, 'はい。', dmPlace);
    time.now += 2 * 60 * 60 * 1000;
  }
  expect((await find(query)).find((text) => [said, asked].includes(text))).toBe(said);
});
