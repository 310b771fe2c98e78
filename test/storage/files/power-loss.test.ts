import { runs } from '../../support/runs.ts';
import { describePowerLosses } from './power-loss-property.ts';

describePowerLosses(runs(500));
