import type { Cipher, CipherPlace } from './cipher.ts';
import type { StoreDatabase } from './database.ts';

const PLACE: CipherPlace = { table: 'meta', id: 'key_check', column: 'value' };
const TEXT = 'handraise';

/** True when `cipher` has the key that this database was first opened with; leaves a check value in a new database. */
export async function keyMatches(db: StoreDatabase, cipher: Cipher): Promise<boolean> {
	const value = await db.write(async (trx) => {
		await trx
			.insertInto('meta')
			.values({ name: PLACE.id, value: cipher.encrypt(TEXT, PLACE) })
			.onConflict((conflict) => conflict.column('name').doNothing())
			.execute();
		return (await trx.selectFrom('meta').select('value').where('name', '=', PLACE.id).executeTakeFirstOrThrow()).value;
	});
	return sealsKeyCheck(value, cipher);
}

/** Whether a check value, as it stands in the database, was made with the key of `cipher`. */
export function sealsKeyCheck(value: string, cipher: Cipher): boolean {
	return cipher.decrypt(value, PLACE) === TEXT;
}

/**
 * The salt with which a passphrase becomes this database's key, made by a migration; null for a database that had its key
 * before there were salts.
 */
export async function readKeySalt(db: StoreDatabase): Promise<string | null> {
	const row = await db.read.selectFrom('meta').select('value').where('name', '=', 'key_salt').executeTakeFirst();
	return row?.value ?? null;
}
