import type { Clock } from '../core/basics.ts';
import { AN_OPERATOR, PROGRAM, recordEvents } from './audit.ts';
import { addNew, type Cipher, change, type Db, from, type StoreDatabase } from './database.ts';
import { createCipher, createKeyRing, type GivenKeys, type KeySetting, keyOf } from './encryption.ts';
import { createReencryption } from './reencryption.ts';
import { markForCompaction, secretsKeyName, startSecretWiping, type WipingOptions } from './secret-wiping.ts';
import { metaPlace } from './shared-states.ts';
import type { SqliteStoreDatabase } from './sqlite.ts';

const KEY_CHECK = metaPlace('key_check');
/** `OLD`: values of version 1 may be there and are read. Once all are brought over, nobody makes it without the key. */
const CHECKED = { OLD: 'handraise', NEW: 'handraise 2' } as const;

/** What `key_check` in `meta` holds: a ciphertext of each key that stored values may need, separated by spaces. */
type KeyCheck = readonly string[];

export const readKeyCheck = (value: string | null): KeyCheck => (value ?? '').split(' ').filter((one) => one !== '');

const opens = (cipher: Cipher, sealed: string, texts: readonly string[] = Object.values(CHECKED)) =>
	texts.includes(cipher.decrypt(sealed, KEY_CHECK) ?? '');

/** Whether these keys open what a database holds. */
export const fits = (check: KeyCheck, ciphers: readonly Cipher[]) =>
	check.every((sealed) => ciphers.some((cipher) => opens(cipher, sealed)));

/** Whether values of version 1 are read with these keys. */
export const isOld = (check: KeyCheck, ciphers: readonly Cipher[]) =>
	check.some((sealed) => ciphers.some((cipher) => opens(cipher, sealed, [CHECKED.OLD])));

const withKeys = (check: KeyCheck, ciphers: readonly Cipher[], hasOld = false): KeyCheck => [
	...check,
	...ciphers
		.filter((cipher) => !check.some((sealed) => opens(cipher, sealed)))
		.map((cipher) => cipher.encrypt(hasOld ? CHECKED.OLD : CHECKED.NEW, KEY_CHECK)),
];

const idsIn = (value: string) => new Set(readKeyCheck(value).map((sealed) => sealed.split('.')[1]));

function recordKeys(trx: Db, at: number, before: ReadonlySet<unknown>, after: ReadonlySet<unknown>): void {
	const isKept = [...before].every((id) => after.has(id));
	if (before.size === 0 || (isKept && before.size === after.size)) return;
	const outcome = isKept ? 'begun' : 'finished';
	recordEvents(trx, { at, action: 'keyChanged', actor: outcome === 'begun' ? AN_OPERATOR : PROGRAM, outcome });
}

/** `whenChanged` runs in the same transaction. */
async function changeCheck(
	{ db, clock }: Pick<KeyOptions, 'db' | 'clock'>,
	changed: (check: KeyCheck) => KeyCheck,
	whenChanged: (trx: Db) => Promise<void> = async () => {},
): Promise<void> {
	const name = { name: KEY_CHECK.id };
	await db.write(async (trx) => {
		await addNew(trx, 'meta', { ...name, value: '' }).execute();
		const { value: before } = await from(trx, 'meta', name).select('value').forUpdate().executeTakeFirstOrThrow();
		const value = changed(readKeyCheck(before)).join(' ');
		if (value === before) return;
		await change(trx, 'meta', name, { value }).execute();
		recordKeys(trx, clock.now(), idsIn(before), idsIn(value));
		await whenChanged(trx);
	});
}

export const ciphersOf = (settings: readonly KeySetting[], salt: string | null) =>
	settings.map((setting) => createCipher(keyOf(setting, salt)));

const BOUND = 'every stored value is bound to its row, person and question now; one of 1.0.0 is not read any more';

export interface KeyOptions extends GivenKeys, Pick<WipingOptions, 'log' | 'onCheckpoint'> {
	readonly db: StoreDatabase;
	/** Null on PostgreSQL. */
	readonly sqlite: SqliteStoreDatabase | null;
	/** This start has migrated the database. */
	readonly migrated: boolean;
	/** It still encrypts with a former key, because replicas have only that one. */
	readonly writesFormer: boolean;
	readonly clock: Clock;
	/** How many values need a former key still; NaN: not counted yet. */
	readonly onFormerValues?: ((count: number) => void) | undefined;
}

/** The keys of a database: all values stay readable that one of them encrypted. Warns when it holds others. */
export async function openKeys({ db, sqlite, own, formers, migrated, writesFormer, ...others }: KeyOptions) {
	const { log, clock, onCheckpoint, onFormerValues = () => {} } = others;
	const checked = { db, clock };
	const rows = await from(db.read, 'meta').select(['name', 'value']).execute();
	const meta = new Map(rows.map(({ name, value }) => [name, value]));
	const check = readKeyCheck(meta.get(KEY_CHECK.id) ?? null);
	const [ownCipher, ...former] = ciphersOf([own, ...formers], meta.get('key_salt') ?? null) as [Cipher, ...Cipher[]];
	/** The newest key of the database, the only one of replicas that were not restarted yet. */
	const newest = check.map((sealed) => former.find((cipher) => opens(cipher, sealed))).findLast(Boolean) ?? former[0];
	const writer = writesFormer && newest !== undefined ? newest : ownCipher;
	const unused = [ownCipher, ...former].filter((cipher) => cipher !== writer);
	const ring = createKeyRing(writer, ...unused);
	ring.setOpensOld(isOld(check, ring.all));
	if (ring.opensOld() && !migrated) log.warn('unbound_values');

	const used = unused.filter((cipher) => meta.has(secretsKeyName(cipher)));
	let isFitting = true;
	// Before anything is encrypted with the key. A wrong key alone must not count as one of the database.
	await changeCheck(checked, (before) => {
		isFitting = fits(before, ring.all);
		return withKeys(before, isFitting ? [...used, writer] : used, ring.opensOld());
	});
	if (!isFitting) log.warn('encryption_key_mismatch');

	const wiping = sqlite === null ? null : await startSecretWiping({ db: sqlite, ring, log, onCheckpoint });
	const cipher = wiping?.cipher ?? ring;
	/** Removes wiped values from the files; true at once on PostgreSQL, whose dead rows only its VACUUM removes. */
	const compact = wiping?.compact ?? (async () => true);
	onFormerValues(former.length === 0 ? 0 : Number.NaN);
	const reencryption =
		(former.length === 0 && !ring.opensOld()) || writer !== ownCipher
			? null
			: createReencryption({
					...others,
					db,
					ring,
					onFormerValues: former.length === 0 ? () => {} : onFormerValues,
					found(keyIds) {
						const found = former.filter(({ keyId }) => keyIds.has(keyId));
						return changeCheck(checked, (before) => withKeys(before, found, ring.opensOld()));
					},
					async finish(endsOld) {
						if (wiping?.isBroughtOver() === false) return false;
						const needed = (before: KeyCheck) => {
							const own = before.filter((sealed) => !fits([sealed], former) && !(endsOld && isOld([sealed], ring.all)));
							return endsOld ? withKeys(own, [ownCipher]) : own;
						};
						await changeCheck(checked, needed, async (trx) => {
							if (sqlite !== null && former.length > 0) await markForCompaction(trx);
						});
						if (endsOld && ring.opensOld()) log.info({}, BOUND);
						if (endsOld) ring.setOpensOld(false);
						return former.length === 0 || compact();
					},
					async follow() {
						const row = await from(db.read, 'meta', { name: KEY_CHECK.id }).select('value').executeTakeFirst();
						ring.setOpensOld(ring.opensOld() && isOld(readKeyCheck(row?.value ?? null), ring.all));
					},
				});
	return {
		cipher,
		isFitting,
		compact,
		reencryption,
		/** Finishes a wipe that is due. Call it before the database is closed. */
		async close(): Promise<void> {
			await reencryption?.stop();
			await wiping?.close();
		},
	};
}

/** The keys of a database, to read and write it from outside the program. */
export async function openKeyRing(db: StoreDatabase, { own, formers }: GivenKeys, writesFormer: boolean) {
	const salt = await from(db.read, 'meta', { name: 'key_salt' }).select('value').executeTakeFirst();
	const inOrder = writesFormer ? [...formers, own] : [own, ...formers];
	return createKeyRing(...(ciphersOf(inOrder, salt?.value ?? null) as [Cipher, ...Cipher[]]));
}
