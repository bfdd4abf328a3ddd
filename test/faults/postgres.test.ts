import { describeFaults } from './describe-faults.ts';

describeFaults('PostgreSQL with two replicas', { replicas: 2, answers: 24 });
