/** Articles, prepositions, auxiliaries and first- and second-person pronouns, in English and Russian. */
export const fillers = `
  a an the this that these those
  i me my mine myself we us our ours you your yours
  who whom whose which what where when why how
  am is are was were be been being do does did doing have has had having will would shall can could
  and or but if then than as so too also just
  at by for from in into of off on onto out per to up with about
  s t m d re ve ll
  here there please user speaker person
  я меня мне мной мой моя моё мое мои мы нас нам наш наша наше наши ты тебя тебе твой вы вас вам ваш
  это этот эта эти тот та те то кто что где когда как какой который
  и или но а же ли бы в во на с со к ко у о об от до из за по при для про
  есть был была было были быть буду будет пользователь
`;

/** Third-person pronouns and negations. */
export const othersAndDenials = `
  he him his she her hers it its they them their theirs
  no not nor never over
  он его ему она её ее ей они их им
  не ни нет
`;
