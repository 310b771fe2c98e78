import { describeChanges } from '../memory/changes-property.ts';

describeChanges(2000);
