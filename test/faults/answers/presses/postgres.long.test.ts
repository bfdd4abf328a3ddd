import { describePresses } from './describe-presses.ts';

describePresses('PostgreSQL with two replicas', { replicas: 2 });
