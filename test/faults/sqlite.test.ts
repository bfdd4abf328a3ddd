import { describeFaults } from './describe-faults.ts';

describeFaults('SQLite in one process', 1);
