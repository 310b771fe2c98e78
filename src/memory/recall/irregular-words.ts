const groups = `
become became | begin began begun | bite bit bitten | blow blew blown | break broke broken | bring brought | build built
buy bought | catch caught | choose chose chosen | come came | deal dealt | dig dug | draw drew drawn | drink drank drunk
drive drove driven | eat ate eaten | fall fell fallen | feed fed | feel felt | fight fought | find found | fly flew flown
forget forgot forgotten | freeze froze frozen | get got gotten | give gave given | go went gone goes | grow grew grown
hang hung | hear heard | hide hid hidden | hold held | keep kept | know knew known | lead led | learn learnt | leave left
lend lent | lie lay lain | light lit | lose lost | make made | mean meant | meet met | pay paid | ride rode ridden
ring rang rung | rise rose risen | run ran | say said | see saw seen | seek sought | sell sold | send sent | shake shook shaken
shine shone | shoot shot | show shown | sing sang sung | sink sank sunk | sit sat | sleep slept | speak spoke spoken
spend spent | stand stood | steal stole stolen | stick stuck | strike struck | swear swore sworn | sweep swept
swim swam swum | swing swung | take took taken | teach taught | tear tore torn | tell told | think thought | throw threw thrown
understand understood | wake woke woken | wear wore worn | win won | write wrote written
child children | person people | man men | woman women | wife wives | life lives | knife knives | leaf leaves | shelf shelves
foot feet | tooth teeth | mouse mice | goose geese | good better best | bad worse worst
`;

/** English forms that no stemmer brings together, by their base form: `went` is `go`. */
export const baseForms: ReadonlyMap<string, string> = new Map(
  groups
    .trim()
    .split(/[|\n]/u)
    .flatMap((group) => {
      const [base = '', ...forms] = group.trim().split(' ');
      return forms.map((form) => [form, base] as const);
    }),
);
