import { describeFaults } from './describe-faults.ts';

describeFaults('PostgreSQL with two replicas', 2);
