import { describeFaults } from './describe-faults.ts';

// One kill: what a dead replica had in hand is taken over after 20 s.
describeFaults('PostgreSQL with two replicas', { replicas: 2, kills: 1 });
