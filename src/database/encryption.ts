import { createCipheriv, createDecipheriv, createHash, createSecretKey, randomBytes, scryptSync } from 'node:crypto';
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { z } from 'zod';
import { HandraiseError } from '../core/errors.ts';
import { parseOrNull } from '../core/values.ts';
import { type StoreDatabase, StoreUnavailableError } from './database.ts';
import { syncDirectory } from './sqlite.ts';

export interface StoreParts {
	readonly db: StoreDatabase;
	readonly cipher: Cipher;
}

/** Where a ciphertext is stored. It decrypts nowhere else, so values cannot be moved between rows. */
export interface CipherPlace {
	readonly table: string;
	readonly id: string;
	readonly column: string;
}

export interface Cipher {
	/** Identifies the key without revealing it. */
	readonly keyId: string;
	/** `1.<key id>.<base64 of nonce, ciphertext and tag>`; different each time. */
	encrypt(text: string, place: CipherPlace): string;
	/** Null for another key, another place or a damaged ciphertext. */
	decrypt(sealed: string, place: CipherPlace): string | null;
}

const VERSION = '1';
const ALGORITHM = 'aes-256-gcm';
/** Bytes, as NIST SP 800-38D requires for GCM. Random nonces are safe for 2^32 texts per key. */
const NONCE_LENGTH = 12;
const TAG_LENGTH = 16;

/** AES-256-GCM with the given 32 bytes. */
export function createCipher(key: Buffer): Cipher {
	const keyId = createHash('sha256').update('handraise key id\0').update(key).digest('hex').slice(0, 8);
	const prefix = `${VERSION}.${keyId}.`;
	const secret = createSecretKey(key);
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

function additionalData({ table, id, column }: CipherPlace): Buffer {
	return Buffer.from(JSON.stringify([VERSION, table, id, column]), 'utf8');
}

/** A column with encrypted JSON. `id` names the row. */
export function sealedColumn<T>(table: string, column: string, schema: z.ZodType<T>) {
	return {
		schema,
		seal: (value: T, id: string, cipher: Cipher) => cipher.encrypt(JSON.stringify(value), { table, id, column }),
		open: (sealed: string | null, id: string, cipher: Cipher): T | null =>
			parseOrNull(schema, sealed && cipher.decrypt(sealed, { table, id, column })),
	};
}

const KEY_LENGTH = 32;

/** Where the key is kept when `ENCRYPTION_KEY` is not set. */
export const keyFileIn = (dataDir: string) => join(dataDir, 'encryption.key');

/** Reads 32 bytes as 64 hexadecimal digits or base64 (either alphabet, optional padding). Throws `encryption_key_invalid`. */
export function parseEncryptionKey(text: string, source = 'ENCRYPTION_KEY'): Buffer {
	const trimmed = text.trim();
	if (/^[0-9a-f]{64}$/i.test(trimmed)) return Buffer.from(trimmed, 'hex');
	if (/^[A-Za-z0-9+/_-]{43}=?$/.test(trimmed)) {
		const key = Buffer.from(trimmed, 'base64');
		if (key.length === KEY_LENGTH) return key;
	}
	const orElse = source === 'ENCRYPTION_KEY' ? `, or a passphrase of ${SHORTEST_PASSPHRASE} characters or more` : '';
	throw new HandraiseError(
		`${source} must be ${KEY_LENGTH} bytes as base64 (44 characters) or hexadecimal (64)${orElse}; it has ${trimmed.length} characters. Make one with \`openssl rand -base64 32\`.`,
		{ code: 'encryption_key_invalid' },
	);
}

/** Characters. Shorter passphrases could be guessed. */
const SHORTEST_PASSPHRASE = 16;
/** scrypt takes about 0.1 s and 32 MiB with these, once at start. */
const SCRYPT_OPTIONS = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 1024 * 1024 };

/** A key as for `parseEncryptionKey`, or a passphrase of at least 16 characters. Throws `encryption_key_invalid`. */
export function readKeySetting(text: string): Buffer | string {
	const trimmed = text.trim();
	try {
		return parseEncryptionKey(trimmed);
	} catch (error) {
		if (trimmed.length < SHORTEST_PASSPHRASE) throw error;
		return trimmed;
	}
}

/** The key; a passphrase is turned into one with scrypt and the salt of its database (`DatabaseLook.keySalt`). */
export function keyOf(setting: Buffer | string, salt: string | null): Buffer {
	return typeof setting === 'string' ? scryptSync(setting, salt ?? '', KEY_LENGTH, SCRYPT_OPTIONS) : setting;
}

/** Reads, or creates atomically and privately, `encryption.key`. Throws `encryption_key_invalid`, `StoreUnavailableError`. */
export function loadOrMakeKeyFile(dataDir: string): Buffer {
	const path = keyFileIn(dataDir);
	let text: string;
	try {
		text = readOrMake(path);
	} catch (error) {
		throw new StoreUnavailableError(`The encryption key file ${path} cannot be read or created.`, { cause: error });
	}
	return parseEncryptionKey(text, path);
}

function readOrMake(path: string): string {
	if (existsSync(path)) return readFileSync(path, 'utf8');
	const draft = `${path}.${randomBytes(6).toString('hex')}`;
	try {
		const key = randomBytes(KEY_LENGTH).toString('base64');
		writeFileSync(draft, `${key}\n`, { flag: 'wx', mode: 0o600, flush: true });
		// A link never replaces a key that another process has just created.
		linkSync(draft, path);
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
	} finally {
		rmSync(draft, { force: true });
	}
	// The file must survive a power cut before anything is encrypted with its key.
	syncDirectory(dirname(path));
	return readFileSync(path, 'utf8');
}

const KEY_CHECK: CipherPlace = { table: 'meta', id: 'key_check', column: 'value' };
const CHECKED_TEXT = 'handraise';

/** The check value that a database keeps, so that a different key is detected. */
export const sealKeyCheck = (cipher: Cipher) => cipher.encrypt(CHECKED_TEXT, KEY_CHECK);

export const sealsKeyCheck = (value: string, cipher: Cipher) => cipher.decrypt(value, KEY_CHECK) === CHECKED_TEXT;
