import type { TermReader } from './term-reader.ts';

/** Words of everyday talk that stand for each other. */
const likes = `
kid child son daughter boy girl baby toddler | mom mother mum parent | dad father parent | grandma grandmother granny
grandpa grandfather | wife husband spouse partner | boyfriend girlfriend partner fiance date | friend buddy pal mate
job work career profession occupation employment | boss manager supervisor | coworker colleague
company firm business employer startup | buy purchase order shop | movie film cinema | tv show series
book novel read story | song music track album | picture photo image pic photograph | car vehicle auto truck
bike bicycle cycle | house home apartment flat | trip travel vacation holiday journey tour | visit trip | country nation
town city village | store shop mall market | food meal dish | meal dinner lunch breakfast | restaurant cafe diner
doctor physician hospital clinic | sick ill disease illness | health medical condition
exercise workout gym fitness train | hobby interest pastime activity | pet dog cat puppy kitten animal | dog puppy pup
cat kitten kitty | happy glad joy excite thrill | sad upset depress unhappy | worry anxious stress nervous
scare afraid fear frighten | angry mad annoy | like love enjoy favorite prefer fan | hate dislike
begin start join launch | end finish complete stop quit | begin start sign | fix repair | break damage crash
injury hurt injure wound | accident crash | win award prize trophy | competition contest tournament race | game match
school college university class course | teach lesson class instructor | study learn course education degree | exam test
plan intend hope goal dream aim | idea suggestion | advice tip suggest recommend recommendation
help support assist volunteer | charity donate fundraise fundraiser volunteer | event party festival ceremony concert
marry wedding marriage | birthday anniversary | gift present | money financial cash pay afford | price cost
computer laptop pc | phone mobile smartphone | program programming code coding software | draw paint sketch art
art paint sculpture pottery artwork | garden plant flower | cook bake recipe | dance dancing ballet | hike walk trail
camp tent campfire | sport soccer football basketball tennis swimming running | ocean sea beach coast
mountain hill peak | weather rain storm snow | religion church faith spiritual | meet encounter
talk speak chat discuss speech | write writing author | make create build | big large huge | small little tiny
pretty beautiful gorgeous | move relocate | allergy allergic | diet weight | kind type sort | place location
struggle difficult hard challenge tough problem issue | relax destress calm unwind | old age elderly | new latest
instrument guitar piano violin drum flute clarinet
`;

/** A kind of thing and what is of that kind: who asks for the kind finds the thing, not the other way round. */
const kinds = `
pet: dog cat puppy kitten hamster rabbit fish bird parrot turtle snake lizard
animal: dog cat puppy kitten bird horse fish bear
instrument: guitar piano violin drum flute clarinet cello saxophone trumpet keyboard bass ukulele
sport: soccer football basketball tennis swimming running baseball hockey golf volleyball ski surf climb yoga box
exercise: yoga running swimming gym weights cycling boxing hike
martial: karate judo taekwondo kickboxing jiujitsu boxing
activity: hike camp swimming running paint cook dance read bike kayak ski surf climb yoga fish garden museum pottery walk
hobby: paint cook dance read garden photography knit pottery fish guitar game chess hike
art: paint sculpture pottery draw photography sketch
family: mom dad mother father sister brother son daughter kid child parent wife husband aunt uncle cousin grandma grandpa
child: son daughter kid baby toddler
country: america usa england france germany spain italy japan china canada mexico india australia ireland sweden brazil greece thailand
state: california texas florida oregon washington colorado michigan minnesota alaska hawaii
city: paris london tokyo rome boston chicago seattle barcelona berlin york
food: pizza pasta salad soup cake bread chicken sushi ice cream cookie sandwich
dessert: cake pie ice cream cookie chocolate | drink: coffee tea beer wine juice soda
vehicle: car truck bike bus van motorcycle | job: teacher engineer nurse doctor manager lawyer designer developer
health: doctor hospital sick pain injury surgery diagnose | emotion: happy sad angry scare proud grateful anxious
feel: happy sad angry scare proud grateful anxious | game: chess console video board | weather: rain snow storm sun wind
clothes: shirt dress shoes jacket hat | language: english french spanish german italian japanese chinese russian
season: summer winter spring autumn fall
event: parade festival concert party wedding conference workshop fundraiser ceremony
music: song band concert album guitar piano | device: phone laptop computer tablet watch
furniture: chair table desk couch sofa | subject: math history science biology chemistry physics
religion: church pray faith god temple mosque | politics: election vote campaign office conservative liberal
`;

/** The words related to a word, both as terms. Few, common and English: a nudge, weighted far below the words of the query. */
export function relatedTerms(reader: TermReader): ReadonlyMap<string, ReadonlySet<string>> {
  const related = new Map<string, Set<string>>();
  const term = (word: string): string => reader.read(word)[0] ?? word;
  const relate = (from: string, to: string): void => {
    if (from === to) return;
    const known = related.get(from) ?? new Set();
    related.set(from, known.add(to));
  };
  for (const group of groupsOf(likes)) {
    const terms = group.split(' ').map(term);
    for (const from of terms) for (const to of terms) relate(from, to);
  }
  for (const group of groupsOf(kinds)) {
    const [kind = '', things = ''] = group.split(': ');
    for (const thing of things.split(' ')) relate(term(kind), term(thing));
  }
  return related;
}

function groupsOf(text: string): readonly string[] {
  return text
    .trim()
    .split(/[|\n]/u)
    .map((group) => group.trim());
}
