import { describeUndoKills } from '../memory/undo-kills-property.ts';

describeUndoKills(500);
