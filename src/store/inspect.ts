import type { Cipher } from './cipher.ts';
import { sealsKeyCheck } from './key-check.ts';
import { MIGRATIONS } from './migrations/index.ts';

/** What can be told of a database without changing anything in it. */
export interface DatabaseLook {
	/** The number of the newest migration that was applied; null in a database that Handraise has not set up. */
	readonly schema: number | null;
	/** What was encrypted with the key that the database was first opened with. */
	readonly keyCheck: string | null;
}

export const NEW_DATABASE: DatabaseLook = { schema: null, keyCheck: null };

/** The schema of this program. */
export const newestSchema = Math.max(...MIGRATIONS.map((migration) => migration.number));

/** Whether `cipher` has the key of the database that was looked at; true for a database that has none yet. */
export function keyFits({ keyCheck }: DatabaseLook, cipher: Cipher): boolean {
	return keyCheck === null || sealsKeyCheck(keyCheck, cipher);
}

export const SCHEMA_QUERY = 'select max(number) as number from migrations';
export const KEY_CHECK_QUERY = "select value from meta where name = 'key_check'";
