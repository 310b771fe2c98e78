import { describePowerLosses } from '../storage/files/power-loss-property.ts';

describePowerLosses(5000);
