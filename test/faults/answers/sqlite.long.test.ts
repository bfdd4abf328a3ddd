import { describeFaults } from './describe-faults.ts';

describeFaults('SQLite in one process', { replicas: 1, kills: 2 });
