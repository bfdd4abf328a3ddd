import { HandraiseError } from '../kernel/errors.ts';
import { addNew, type Cipher, type Db, from, type StoreDatabase } from './database.ts';
import { ciphersOf, fits, type GivenKeys, KEY_CHECK, type KeyCheck, readKeyCheck, sealCheck } from './encryption.ts';
import { readMeta } from './sealing.ts';
import { startSecretWiping, type WipingOptions } from './secret-wiping.ts';
import type { SqliteStoreDatabase } from './sqlite.ts';

/**
 * Why a program must not start with the first of these keys. Null for a key of the database, and for a wrong one,
 * which only causes a warning.
 */
export function refuseKeys(check: KeyCheck, [own, ...formers]: readonly Cipher[]): HandraiseError | null {
	const isBegun = check.length > 1;
	if (!isBegun && (own === undefined || fits(check, [own]) || !fits(check, formers))) return null;
	return new HandraiseError(isBegun ? UNFINISHED : NOT_BEGUN, { code: 'rekey_needed' });
}

const UNFINISHED =
	'npm run rekey has begun to encrypt the database with another key, and has not finished: let it finish, or run it ' +
	'again with the same keys. Then start with its ENCRYPTION_KEY.';
const NOT_BEGUN =
	'The database is encrypted with ENCRYPTION_KEY_FORMER: `npm run rekey` encrypts it with ENCRYPTION_KEY. Or start ' +
	'with the former key as ENCRYPTION_KEY.';

export interface KeyOptions extends GivenKeys, Pick<WipingOptions, 'log' | 'onCheckpoint'> {
	readonly db: StoreDatabase;
	/** Null on PostgreSQL. */
	readonly sqlite: SqliteStoreDatabase | null;
}

/**
 * Makes the cipher of a database. Warns when the database holds values of another key.
 * @throws HandraiseError `rekey_needed`
 */
export async function openKeys({ db, sqlite, own, formers, log, onCheckpoint }: KeyOptions) {
	const meta = await readMeta(db.read);
	const salt = meta.get('key_salt') ?? null;
	const [master, ...others] = ciphersOf([own, ...formers], salt) as [Cipher, ...Cipher[]];
	// Before anything is encrypted with the key. Of replicas that start together on an empty database, one writes it.
	if (!meta.has(KEY_CHECK.id))
		await db.writeOne((trx) => addNew(trx, 'meta', { name: KEY_CHECK.id, value: sealCheck(master) }).execute());
	const value = await readCheck(db.read);
	const check = readKeyCheck(value);
	const refusal = refuseKeys(check, [master, ...others]);
	if (refusal !== null) throw refusal;
	const isFitting = fits(check, [master]);
	if (!isFitting) log.warn('encryption_key_mismatch');
	const wiping = sqlite === null ? null : await startSecretWiping({ db: sqlite, master, log, onCheckpoint });
	return {
		cipher: wiping?.cipher ?? master,
		/** The check value of the key. `npm run rekey` changes it when it begins. */
		check: value,
		isFitting,
		/** Removes wiped values from the files; true at once on PostgreSQL, whose dead rows only its VACUUM removes. */
		compact: wiping?.compact ?? (async () => true),
		/** Finishes a wipe that is due. Call it before the database is closed. */
		close: async () => wiping?.close(),
	};
}

const readCheck = async (db: Db) =>
	(await from(db, 'meta', { name: KEY_CHECK.id }).select('value').executeTakeFirstOrThrow()).value;

/** The cipher of a database's letters (`createLetters`), for commands outside the program. */
export async function openCipher(db: StoreDatabase, { own }: GivenKeys): Promise<Cipher> {
	const [cipher] = ciphersOf([own], (await readMeta(db.read)).get('key_salt') ?? null);
	return cipher as Cipher;
}
