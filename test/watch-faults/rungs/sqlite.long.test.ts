import { describeRungs } from './describe-rungs.ts';

describeRungs('SQLite in one process', { replicas: 1, strikes: 1 });
