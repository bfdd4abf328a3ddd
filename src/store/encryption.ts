import { createCipheriv, createDecipheriv, createHash, createSecretKey, randomBytes, scryptSync } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { HandraiseError } from '../errors.ts';
import { StoreUnavailableError } from './database.ts';

/** Where a ciphertext stands. It opens nowhere else, so values cannot be moved from row to row in the database. */
export interface CipherPlace {
	readonly table: string;
	readonly id: string;
	readonly column: string;
}

export interface Cipher {
	/** Names the key without telling anything of it. */
	readonly keyId: string;
	/** `1.<key id>.<base64 of nonce, ciphertext and tag>`; another one each time. */
	encrypt(text: string, place: CipherPlace): string;
	/** The text, or null when it was written with another key, stood in another place, or is damaged. */
	decrypt(sealed: string, place: CipherPlace): string | null;
}

const VERSION = '1';
const ALGORITHM = 'aes-256-gcm';
/** Bytes, as NIST SP 800-38D asks of GCM. Random nonces are safe for 2^32 texts under one key. */
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
			const decipher = createDecipheriv(ALGORITHM, secret, bytes.subarray(0, NONCE_LENGTH), {
				authTagLength: TAG_LENGTH,
			});
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

const KEY_LENGTH = 32;
const HOW = 'Make one with `openssl rand -base64 32`.';

/** Where the key is kept when `ENCRYPTION_KEY` is not set. */
export const keyFileIn = (dataDir: string) => join(dataDir, 'encryption.key');

/**
 * Reads a key as it is: exactly 32 bytes, as 64 hexadecimal digits or as base64 (either alphabet, padding optional).
 * Throws `encryption_key_invalid` for anything else.
 */
export function parseEncryptionKey(text: string, source = 'ENCRYPTION_KEY'): Buffer {
	const trimmed = text.trim();
	if (/^[0-9a-f]{64}$/i.test(trimmed)) return Buffer.from(trimmed, 'hex');
	if (/^[A-Za-z0-9+/_-]{43}=?$/.test(trimmed)) {
		// Buffer reads both alphabets of base64.
		const key = Buffer.from(trimmed, 'base64');
		if (key.length === KEY_LENGTH) return key;
	}
	const orElse = source === 'ENCRYPTION_KEY' ? `, or a passphrase of ${SHORTEST_PASSPHRASE} characters or more` : '';
	throw new HandraiseError(
		`${source} must be ${KEY_LENGTH} bytes as base64 (44 characters) or hexadecimal (64)${orElse}; it has ${trimmed.length} characters. ${HOW}`,
		{ code: 'encryption_key_invalid' },
	);
}

/** Shorter ones are refused: they could be found by trying. */
const SHORTEST_PASSPHRASE = 16;
/** Turning a passphrase into a key takes about a tenth of a second and 32 MiB, once at start. */
const STRETCHING = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 1024 * 1024 };
/** Of databases made before each had a salt of its own. */
const FORMER_SALT = 'handraise encryption key 1';

/** What `ENCRYPTION_KEY` says. */
export type KeySetting =
	| { readonly kind: 'key'; readonly key: Buffer }
	| { readonly kind: 'passphrase'; readonly text: string };

/**
 * Reads `ENCRYPTION_KEY`: 32 bytes as `parseEncryptionKey` takes them are the key; any other text of 16 characters or
 * more is a passphrase. Throws `encryption_key_invalid` for a shorter one.
 */
export function readKeySetting(text: string): KeySetting {
	const trimmed = text.trim();
	try {
		return { kind: 'key', key: parseEncryptionKey(trimmed) };
	} catch (error) {
		if (trimmed.length < SHORTEST_PASSPHRASE) throw error;
		return { kind: 'passphrase', text: trimmed };
	}
}

/** The key, made with scrypt from a passphrase and the salt of its database (`DatabaseLook.keySalt`). */
export function keyOf(setting: KeySetting, salt: string | null): Buffer {
	if (setting.kind === 'key') return setting.key;
	return scryptSync(setting.text, salt ?? FORMER_SALT, KEY_LENGTH, STRETCHING);
}

/**
 * Reads `dataDir/encryption.key`, making it first when there is none: once, whole or not at all, readable by this user
 * alone. Throws `encryption_key_invalid` when it holds something else, `StoreUnavailableError` when it cannot be had.
 */
export function loadOrMakeKeyFile(dataDir: string): Buffer {
	const path = keyFileIn(dataDir);
	let text: string;
	try {
		text = readOrMake(path);
	} catch (error) {
		throw new StoreUnavailableError(`The encryption key file ${path} can be neither read nor made.`, { cause: error });
	}
	return parseEncryptionKey(text, path);
}

function readOrMake(path: string): string {
	const found = readIfThere(path);
	if (found !== null) return found;
	const draft = `${path}.${randomBytes(6).toString('hex')}`;
	try {
		const descriptor = openSync(draft, 'wx', 0o600);
		try {
			writeSync(descriptor, `${randomBytes(KEY_LENGTH).toString('base64')}\n`);
			fsyncSync(descriptor);
		} finally {
			closeSync(descriptor);
		}
		// A link never replaces a key that another process made meanwhile.
		linkSync(draft, path);
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
	} finally {
		rmSync(draft, { force: true });
	}
	syncDirectoryOf(path);
	return readFileSync(path, 'utf8');
}

function readIfThere(path: string): string | null {
	try {
		return readFileSync(path, 'utf8');
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
		throw error;
	}
}

/** Before anything is encrypted with a key, its file must survive a power cut. */
function syncDirectoryOf(path: string): void {
	const descriptor = openSync(join(path, '..'), 'r');
	try {
		fsyncSync(descriptor);
	} finally {
		closeSync(descriptor);
	}
}

const KEY_CHECK: CipherPlace = { table: 'meta', id: 'key_check', column: 'value' };
const CHECKED_TEXT = 'handraise';

/** What is kept of a key, so that another one is noticed. */
export function sealKeyCheck(cipher: Cipher): string {
	return cipher.encrypt(CHECKED_TEXT, KEY_CHECK);
}

/** Whether a check value, as it stands in the database, was made with the key of `cipher`. */
export function sealsKeyCheck(value: string, cipher: Cipher): boolean {
	return cipher.decrypt(value, KEY_CHECK) === CHECKED_TEXT;
}
