import { describeLongRaces } from './contract.ts';
import { openReplicas } from './postgres-replicas.ts';

describeLongRaces('PostgreSQL', openReplicas);
