import { createCipheriv, createDecipheriv, createHash, createSecretKey, randomBytes, scryptSync } from 'node:crypto';
import { HandraiseError } from '../kernel/errors.ts';
import type { Cipher, CipherPlace } from './database.ts';

const ALGORITHM = 'aes-256-gcm';
/** Bytes, as NIST SP 800-38D requires for GCM. Random nonces are safe for 2^32 texts per key. */
const NONCE_LENGTH = 12;
const TAG_LENGTH = 16;

/** The form that ciphertexts begin with. */
const FORM = '2';

/** The beginning of each ciphertext of a key: always of the same length. */
export const prefixOf = (keyId: string) => `${FORM}.${keyId}.`;

/** AES-256-GCM with the given 32 bytes. */
export function createCipher(key: Buffer): Cipher {
	const keyId = createHash('sha256').update('handraise key id\0').update(key).digest('hex').slice(0, 8);
	const secret = createSecretKey(key);
	const prefix = prefixOf(keyId);
	const additionalData = ({ table, id, column, bound = [] }: CipherPlace) =>
		Buffer.from(JSON.stringify([FORM, table, id, column, ...bound]), 'utf8');
	return {
		keyId,
		encrypt(text, place) {
			const nonce = randomBytes(NONCE_LENGTH);
			const cipher = createCipheriv(ALGORITHM, secret, nonce, { authTagLength: TAG_LENGTH });
			cipher.setAAD(additionalData(place));
			const sealed = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
			return prefix + sealed.toString('base64');
		},
		decrypt(sealed, place) {
			if (!sealed.startsWith(prefix)) return null;
			const bytes = Buffer.from(sealed.slice(prefix.length), 'base64');
			if (bytes.length < NONCE_LENGTH + TAG_LENGTH) return null;
			const nonce = bytes.subarray(0, NONCE_LENGTH);
			const decipher = createDecipheriv(ALGORITHM, secret, nonce, { authTagLength: TAG_LENGTH });
			decipher.setAAD(additionalData(place));
			decipher.setAuthTag(bytes.subarray(bytes.length - TAG_LENGTH));
			try {
				const text = decipher.update(bytes.subarray(NONCE_LENGTH, bytes.length - TAG_LENGTH));
				return Buffer.concat([text, decipher.final()]).toString('utf8');
			} catch {
				return null;
			}
		},
	};
}

export const KEY_LENGTH = 32;

/** Reads 32 bytes: 64 hexadecimal digits or base64 (either alphabet, or unpadded). Throws `encryption_key_invalid`. */
export function parseEncryptionKey(text: string, source = 'ENCRYPTION_KEY'): Buffer {
	const trimmed = text.trim();
	if (/^[0-9a-f]{64}$/i.test(trimmed)) return Buffer.from(trimmed, 'hex');
	if (/^[A-Za-z0-9+/_-]{43}=?$/.test(trimmed)) {
		const key = Buffer.from(trimmed, 'base64');
		if (key.length === KEY_LENGTH) return key;
	}
	const orElse = source.includes('ENCRYPTION_KEY')
		? `, or a passphrase of ${SHORTEST_PASSPHRASE} characters or more`
		: '';
	const advice = source.includes(FORMER) ? '' : ' Make one with `openssl rand -base64 32`.';
	throw new HandraiseError(
		`${source} must be ${KEY_LENGTH} bytes as base64 (44 characters) or hexadecimal (64)${orElse}; it has ` +
			`${trimmed.length} characters.${advice}`,
		{ code: 'encryption_key_invalid' },
	);
}

const FORMER = 'ENCRYPTION_KEY_FORMER';
/** Characters. Shorter passphrases could be guessed. */
const SHORTEST_PASSPHRASE = 16;
/** scrypt takes about 0.1 s and 32 MiB with these, once at start. */
const SCRYPT_OPTIONS = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 1024 * 1024 };

/** 32 bytes, or a passphrase of at least 16 characters. */
export type KeySetting = Buffer | string;

/** Throws `encryption_key_invalid`. */
export function readKeySetting(text: string, source?: string): KeySetting {
	const trimmed = text.trim();
	try {
		return parseEncryptionKey(trimmed, source);
	} catch (error) {
		if (trimmed.length < SHORTEST_PASSPHRASE) throw error;
		return trimmed;
	}
}

export type GivenKeys = Readonly<ReturnType<typeof readKeys>>;

/**
 * Reads ENCRYPTION_KEY, and each line of ENCRYPTION_KEY_FORMER. A text with NUL, like UTF-16, counts as one line.
 * Throws `encryption_key_invalid` with one line for each problem.
 */
export function readKeys(ownText: string, formerText: string | null = null) {
	const own = readKeySetting(ownText);
	const problems: string[] = [];
	const lines = (formerText ?? '').split(formerText?.includes('\0') ? /$/ : '\n').filter((line) => line.trim() !== '');
	const formers = lines.flatMap((line, index) => {
		try {
			const key = readKeySetting(line, lines.length === 1 ? FORMER : `Line ${index + 1} of ${FORMER}`);
			if (!isSame(key, own)) return [key];
			problems.push(`${FORMER} has the key of ENCRYPTION_KEY: it takes only keys that were used before.`);
		} catch (error) {
			if (!(error instanceof HandraiseError)) throw error;
			problems.push(error.message);
		}
		return [];
	});
	if (problems.length > 0) throw new HandraiseError(problems.join('\n'), { code: 'encryption_key_invalid' });
	return { own, formers: formers as readonly KeySetting[] };
}

const isSame = (one: KeySetting, other: KeySetting) =>
	typeof one === 'string' || typeof other === 'string' ? one === other : one.equals(other);

/** The key; of a passphrase, scrypt makes it with the salt of its database (`DatabaseLook.keySalt`). */
export function keyOf(setting: KeySetting, salt: string | null): Buffer {
	return typeof setting === 'string' ? scryptSync(setting, salt ?? '', KEY_LENGTH, SCRYPT_OPTIONS) : setting;
}

export const ciphersOf = (settings: readonly KeySetting[], salt: string | null) =>
	settings.map((setting) => createCipher(keyOf(setting, salt)));

/** The place of a value of `meta`. A letter of `shared-states.ts` uses it too: it is bound to its name alone. */
export const metaPlace = (id: string) => ({ table: 'meta', id, column: 'value' }) as const;

export const KEY_CHECK = metaPlace('key_check');
const CHECKED = 'handraise';

/**
 * What `key_check` of `meta` holds: a text encrypted with the key of all values. From the beginning of `npm run
 * rekey` to its end, one more follows for each further key that values may need, after a space.
 */
export type KeyCheck = readonly string[];

export const readKeyCheck = (value: string | null | undefined): KeyCheck =>
	(value ?? '').split(' ').filter((one) => one !== '');

export const sealCheck = (cipher: Cipher) => cipher.encrypt(CHECKED, KEY_CHECK);

/** Whether this key made a part of a `KeyCheck`. */
export const opensCheck = (cipher: Cipher, sealed: string) => cipher.decrypt(sealed, KEY_CHECK) === CHECKED;

/** Whether these keys open what a database holds. */
export const fits = (check: KeyCheck, ciphers: readonly Cipher[]) =>
	check.every((sealed) => ciphers.some((cipher) => opensCheck(cipher, sealed)));

/**
 * The name of the row of `meta` with the key of secrets that this key encrypts. PostgreSQL has none: see
 * secret-wiping.ts.
 */
export const secretsKeyName = ({ keyId }: Cipher) => `secrets_key:${keyId}`;

/** Null when `sealed`, the value of that row, was written with another key, or there is none. */
export function secretsCipher(master: Cipher, sealed: string | undefined): Cipher | null {
	const id = secretsKeyName(master);
	const text = sealed === undefined ? null : master.decrypt(sealed, metaPlace(id));
	return text === null ? null : createCipher(parseEncryptionKey(text, id));
}
