import { describeFaults } from './describe-faults.ts';

// One kill, because a dead replica's work is taken over only after 20 s.
describeFaults('PostgreSQL with two replicas', { replicas: 2, kills: 1 });
