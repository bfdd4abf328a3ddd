import { describeFaults } from './describe-faults.ts';

describeFaults('SQLite in one process', { replicas: 1, answers: 36 });
