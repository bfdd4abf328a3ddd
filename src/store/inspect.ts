import type { Cipher } from './cipher.ts';
import { sealsKeyCheck } from './key-check.ts';
import { MIGRATIONS } from './migrations/index.ts';

/** What can be told of a database without changing anything in it. */
export interface DatabaseLook {
	/** The number of the newest migration that was applied; null in a database that Handraise has not set up. */
	readonly schema: number | null;
	/** What was encrypted with the key that the database was first opened with. */
	readonly keyCheck: string | null;
	/** Makes a passphrase this database's key; null for one that had its key before there were salts. */
	readonly keySalt: string | null;
}

export const NEW_DATABASE: DatabaseLook = { schema: null, keyCheck: null, keySalt: null };

/** The schema of this program. */
export const newestSchema = Math.max(...MIGRATIONS.map((migration) => migration.number));

/** Whether `cipher` has the key of the database that was looked at; true for a database that has none yet. */
export function keyFits({ keyCheck }: DatabaseLook, cipher: Cipher): boolean {
	return keyCheck === null || sealsKeyCheck(keyCheck, cipher);
}

export const SCHEMA_QUERY = 'select max(number) as number from migrations';

const KEY_FACTS = { key_check: 'keyCheck', key_salt: 'keySalt' } as const;
export const KEY_QUERY = "select name, value from meta where name in ('key_check', 'key_salt')";

/** What the rows of `KEY_QUERY` say. */
export function keyFactsIn(
	rows: readonly Readonly<Record<string, unknown>>[],
): Pick<DatabaseLook, 'keyCheck' | 'keySalt'> {
	const facts: Record<'keyCheck' | 'keySalt', string | null> = { keyCheck: null, keySalt: null };
	for (const { name, value } of rows) facts[KEY_FACTS[name as keyof typeof KEY_FACTS]] = String(value);
	return facts;
}
