import { type Kysely, sql } from 'kysely';
import { z } from 'zod';
import { HandraiseError } from '../kernel/errors.ts';
import { parseOrNull } from '../kernel/values.ts';
import {
	type Cipher,
	type CipherPlace,
	change,
	type Db,
	isPostgres,
	SEALED_COLUMNS,
	type SealedColumn,
} from './database.ts';
import {
	createCipher,
	type GivenKeys,
	KEY_CHECK,
	keyOf,
	metaPlace,
	opensCheck,
	parseEncryptionKey,
	readKeyCheck,
	sealCheck,
	secretsKeyName,
} from './encryption.ts';
import { readMeta, sealAnew } from './sealing.ts';

/** The form of all ciphertexts of 1.0.0, and of those of 1.1.0 in columns that are bound to their key alone. */
const FORMER = '1';
/** The texts that former check values held. */
const FORMER_CHECKED: readonly unknown[] = ['handraise', 'handraise 2'];

/** A key as ciphertexts of both forms need it. */
interface BothForms {
	readonly former: Cipher;
	readonly now: Cipher;
}

const bothForms = (key: Buffer): BothForms => ({ former: createCipher(key, FORMER), now: createCipher(key) });

/**
 * Encrypts again what 1.0.0 and 1.1.0 did not bind to its row, each value with the key that it has. A value that no
 * given key opens stays as it is, and is not read any more.
 * @throws HandraiseError `encryption_key_invalid` when a key of the database is not given
 */
export async function toOneForm(db: Kysely<unknown>, given: GivenKeys): Promise<void> {
	const trx = db as unknown as Db;
	const meta = await readMeta(trx);
	const salt = meta.get('key_salt') ?? null;
	const keys = [given.own, ...given.formers].map((setting) => bothForms(keyOf(setting, salt)));
	await renewCheck(trx, keys, meta.get('key_check'));
	const ofSecrets = isPostgres(trx) ? keys : await renewSecretsKeys(trx, keys, meta);
	const isFormer = ({ column }: SealedColumn) => sql<boolean>`substr(${sql.ref(column)}, 1, 2) = ${`${FORMER}.`}`;
	for (const column of SEALED_COLUMNS) {
		const { was: [was] = [column.column] } = column;
		await sealAnew(trx, column, isFormer(column), (sealed, place) => {
			for (const { former, now } of column.isSecret ? ofSecrets : keys) {
				const text = former.decrypt(sealed, { ...place, column: was, bound: [] } as CipherPlace);
				if (text !== null) return now.encrypt(text, place);
			}
			return null;
		});
	}
	await completeFirstRows(trx, keys, ofSecrets);
}

/**
 * Adds to answers and drafts of 1.0.0 what it did not store: the name of the session, and arrivals. Their contents
 * were lists of items.
 */
async function completeFirstRows(trx: Db, keys: readonly BothForms[], ofSecrets: readonly BothForms[]): Promise<void> {
	const isOfFirst = sql.raw<boolean>(`submission not like '%"arrivalSeen"%'`);
	const isAny = sql.raw<boolean>('1 = 1');
	for (const column of SEALED_COLUMNS.filter((one) => one.column === 'content')) {
		if (column.table !== 'answers' && column.table !== 'drafts') continue;
		const [isDue, opening] = column.table === 'answers' ? [isOfFirst, keys] : [isAny, ofSecrets];
		await sealAnew(trx, column, isDue, (sealed, place) => {
			for (const { now } of opening) {
				const stored = parseOrNull(z.unknown(), now.decrypt(sealed, place));
				const named = { sessionName: '', ...(Array.isArray(stored) ? { items: stored } : Object(stored)) };
				if (stored !== null) return now.encrypt(JSON.stringify(named), place);
			}
			return null;
		});
	}
	await sql`update answers set submission = substr(submission, 1, length(submission) - 1) || ',"arrivalSeen":null}'
		where ${isOfFirst}`.execute(trx);
}

const keyOfCheck = (keys: readonly BothForms[], sealed: string) =>
	keys.find(({ former }) => FORMER_CHECKED.includes(former.decrypt(sealed, KEY_CHECK)));

/** Whether these keys are enough to migrate a database with this check value. */
export function fitsBefore(value: string | null, { own, formers }: GivenKeys, salt: string | null): boolean {
	const keys = [own, ...formers].map((setting) => bothForms(keyOf(setting, salt)));
	const isOpen = (sealed: string) =>
		keyOfCheck(keys, sealed) !== undefined || keys.some(({ now }) => opensCheck(now, sealed));
	return readKeyCheck(value).every(isOpen);
}

async function renewCheck(trx: Db, keys: readonly BothForms[], value: string | undefined): Promise<void> {
	const check = readKeyCheck(value).map((sealed) => {
		const key = keyOfCheck(keys, sealed);
		if (key === undefined) throw new HandraiseError(NO_KEY, { code: 'encryption_key_invalid' });
		return sealCheck(key.now);
	});
	if (check.length > 0) await change(trx, 'meta', { name: KEY_CHECK.id }, { value: check.join(' ') }).execute();
}

const NO_KEY =
	'The database is not migrated, because a key that it was made with is not given: texts of the former version are ' +
	'encrypted anew. Set ENCRYPTION_KEY (or restore encryption.key in DATA_DIR) and ENCRYPTION_KEY_FORMER as the ' +
	'former version has them. Nothing was changed. docs/leaks.md tells of a lost key.';

/** Encrypts the keys of secrets again, and returns them. */
async function renewSecretsKeys(trx: Db, keys: readonly BothForms[], meta: ReadonlyMap<string, string>) {
	const renewed: BothForms[] = [];
	for (const { former, now } of keys) {
		const place = metaPlace(secretsKeyName(now));
		const sealed = meta.get(place.id);
		const text = sealed === undefined ? null : former.decrypt(sealed, place);
		if (text === null) continue;
		renewed.push(bothForms(parseEncryptionKey(text, place.id)));
		await change(trx, 'meta', { name: place.id }, { value: now.encrypt(text, place) }).execute();
	}
	return renewed;
}
