import { answers } from './0001-answers.ts';
import { draftsAndClaims } from './0002-drafts-and-claims.ts';
import { watches } from './0003-watches.ts';
import { leaseTokens } from './0004-lease-tokens.ts';
import { keySalt } from './0005-key-salt.ts';
import { secretPositions } from './0006-secret-positions.ts';
import type { Migration } from './migration.ts';

/** All migrations, in order. */
export const MIGRATIONS: readonly Migration[] = [
	answers,
	draftsAndClaims,
	watches,
	leaseTokens,
	keySalt,
	secretPositions,
];
