import { describeUndoKills } from './undo-kills-property.ts';

describeUndoKills(15);
