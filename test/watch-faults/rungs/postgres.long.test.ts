import { describeRungs } from './describe-rungs.ts';

describeRungs('PostgreSQL with two replicas', { replicas: 2, strikes: 1 });
