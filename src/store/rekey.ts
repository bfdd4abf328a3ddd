import { randomBytes } from 'node:crypto';
import { type Clock, MINUTE_MS } from '../kernel/clock.ts';
import { HandraiseError } from '../kernel/errors.ts';
import type { Log } from '../kernel/log.ts';
import { recordOperator } from './audit.ts';
import {
	add,
	type Cipher,
	type Db,
	from,
	remove,
	SEALED_COLUMNS,
	type SealedColumn,
	type StoreDatabase,
	sql,
} from './database.ts';
import {
	ciphersOf,
	createCipher,
	fits,
	type GivenKeys,
	KEY_CHECK,
	KEY_LENGTH,
	metaPlace,
	opensCheck,
	prefixOf,
	readKeyCheck,
	sealCheck,
	secretsCipher,
	secretsKeyName,
} from './encryption.ts';
import { untilUnused } from './in-use.ts';
import { needSchema } from './migrate.ts';
import { readMeta, sealAnew } from './sealing.ts';
import { markForCompaction, startSecretWiping } from './secret-wiping.ts';
import type { SqliteStoreDatabase } from './sqlite.ts';

interface Options {
	readonly db: StoreDatabase;
	/** Null on PostgreSQL. */
	readonly sqlite: SqliteStoreDatabase | null;
	readonly keys: GivenKeys;
	/** Who runs it. */
	readonly by: string;
	readonly clock: Clock;
	readonly log: Log;
	/** Called when the database is marked. */
	readonly onMarked: () => void;
}

/**
 * Encrypts with ENCRYPTION_KEY what the former keys encrypted. First it marks the database (`KeyCheck`): replicas
 * stop, and none starts. When all have stopped, one transaction encrypts every value and takes the mark away, so it can
 * be killed at any point and run again. On SQLite the file is then written anew. `written`: how many values were
 * encrypted; `left`: how many no given key opens. `isCompact`: SQLite's file holds nothing that a former key opens.
 * @throws HandraiseError `encryption_key_invalid`, `database_older`, `database_in_use`
 */
export async function rekey(options: Options) {
	const { db, sqlite, clock, onMarked } = options;
	await db.write((trx) => mark(trx, options));
	onMarked();
	// A replica looks each second and stops within 10 s, on a machine that has time for it.
	await untilUnused(db, clock, MINUTE_MS, UNENCRYPTED);
	const { master, ...counts } = await db.write((trx) => encryptAnew(trx, options));
	return { ...counts, isCompact: sqlite === null || (await compact(sqlite, master, options.log)) };
}

/** A key with what it encrypts: on SQLite a key of its own for secret columns, if it has one. */
interface Opened {
	readonly master: Cipher;
	readonly secrets: Cipher | null;
}

const cipherOf = ({ master, secrets }: Opened, { isSecret }: SealedColumn) => (isSecret ? secrets : master);

/** The given keys as this database needs them. Another command of this kind waits until the end of the transaction. */
async function openGiven(trx: Db, { sqlite, keys }: Options) {
	await from(trx, 'meta', { name: KEY_CHECK.id }).select('value').forUpdate().execute();
	const meta = await readMeta(trx);
	const [own, ...formers] = ciphersOf([keys.own, ...keys.formers], meta.get('key_salt') ?? null).map(
		(master): Opened => ({
			master,
			secrets: sqlite === null ? master : secretsCipher(master, meta.get(secretsKeyName(master))),
		}),
	) as [Opened, ...Opened[]];
	const check = readKeyCheck(meta.get(KEY_CHECK.id));
	if (!fits(check, mastersOf([own, ...formers])))
		throw new HandraiseError(check.length > 1 ? OTHER_KEYS : WRONG_KEYS, { code: 'encryption_key_invalid' });
	return { own, formers, check };
}

const mastersOf = (keys: readonly Opened[]) => keys.map(({ master }) => master);

const WRONG_KEYS =
	'ENCRYPTION_KEY_FORMER is not the key of the database: set the one that Handraise ran with last. Nothing was ' +
	'changed. docs/leaks.md tells of a lost key.';
const OTHER_KEYS =
	'npm run rekey has begun with other keys and has not finished: give all of them, the newest as ENCRYPTION_KEY and ' +
	'the others in ENCRYPTION_KEY_FORMER, one a line. Nothing was changed.';

/** Adds to the check value each given key that it lacks. */
async function mark(trx: Db, options: Options): Promise<void> {
	await needSchema(trx);
	const { own, formers, check } = await openGiven(trx, options);
	const isNew = (master: Cipher) => !check.some((sealed) => opensCheck(master, sealed));
	const added = mastersOf([own, ...formers])
		.filter(isNew)
		.map(sealCheck);
	if (added.length === 0) return;
	await writeCheck(trx, [...check, ...added].join(' '));
	record(trx, options, 'begun');
}

async function writeCheck(trx: Db, value: string): Promise<void> {
	const row = add(trx, 'meta', { name: KEY_CHECK.id, value });
	await row.onConflict((conflict) => conflict.column('name').doUpdateSet({ value })).execute();
}

const isOfOther = ({ keyId }: Cipher, { column }: SealedColumn) =>
	sql<boolean>`substr(${sql.ref(column)}, 1, ${sql.lit(prefixOf(keyId).length)}) <> ${prefixOf(keyId)}`;

function record(trx: Db, { by, clock }: Options, outcome: 'begun' | 'finished'): void {
	recordOperator(trx, by, { at: clock.now(), action: 'keyChanged', outcome });
}

const UNENCRYPTED = 'Nothing was encrypted yet, and no Handraise starts until this has finished.';

async function encryptAnew(trx: Db, options: Options) {
	const { own: given, formers } = await openGiven(trx, options);
	const own = { ...given, secrets: given.secrets ?? (await makeSecretsKey(trx, given)) };
	let [written, left] = [0, 0];
	for (const column of SEALED_COLUMNS) {
		const now = cipherOf(own, column) ?? own.master;
		const others = formers.flatMap((key) => cipherOf(key, column) ?? []);
		const done = await sealAnew(trx, column, isOfOther(now, column), (sealed, place) => {
			for (const cipher of others) {
				const text = cipher.decrypt(sealed, place);
				if (text !== null) return now.encrypt(text, place);
			}
			return null;
		});
		written += done.written;
		left += done.left;
	}
	await remove(trx, 'meta', { name: mastersOf(formers).map(secretsKeyName) }).execute();
	await writeCheck(trx, sealCheck(own.master));
	if (options.sqlite !== null) await markForCompaction(trx);
	record(trx, options, 'finished');
	return { written, left, master: own.master };
}

/** Makes the key of secrets, on SQLite. The next start replaces it. */
async function makeSecretsKey(trx: Db, { master }: Opened): Promise<Cipher> {
	const key = randomBytes(KEY_LENGTH);
	const name = secretsKeyName(master);
	await add(trx, 'meta', { name, value: master.encrypt(key.toString('base64'), metaPlace(name)) }).execute();
	return createCipher(key);
}

/** Whether the file was written anew: else the next start does it. */
async function compact(db: SqliteStoreDatabase, master: Cipher, log: Log): Promise<boolean> {
	const wiping = await startSecretWiping({ db, master, log });
	const isDone = await wiping.compact();
	await wiping.close();
	return isDone;
}
