import { describePresses } from './describe-presses.ts';

describePresses('SQLite in one process', { replicas: 1 });
