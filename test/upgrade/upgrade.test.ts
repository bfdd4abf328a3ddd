import { upgradeSuite } from './suite.ts';

upgradeSuite('sqlite');
