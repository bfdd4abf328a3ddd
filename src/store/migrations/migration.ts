import type { Kysely } from 'kysely';
import type { Dialect } from '../database.ts';

/** One step of the schema. Never changed once released: a later one mends it. */
export interface Migration {
	/** Counts from 1 without gaps. */
	readonly number: number;
	readonly name: string;
	/** Runs in the transaction that all pending migrations share. Uses no table types: those describe the newest schema. */
	up(db: Kysely<unknown>, dialect: Dialect): Promise<void>;
}
