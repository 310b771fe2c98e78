import { describePowerLosses } from './power-loss-property.ts';

describePowerLosses(150);
