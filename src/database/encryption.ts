import { createCipheriv, createDecipheriv, createHash, createSecretKey, randomBytes, scryptSync } from 'node:crypto';
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { HandraiseError, StoreUnavailableError } from '../core/basics.ts';
import type { Cipher, CipherPlace } from './database.ts';
import { syncDirectory } from './sqlite.ts';

const ALGORITHM = 'aes-256-gcm';
/** Bytes, as NIST SP 800-38D requires for GCM. Random nonces are safe for 2^32 texts per key. */
const NONCE_LENGTH = 12;
const TAG_LENGTH = 16;

/** 2: the additional data has the values of the row that the place is bound to. 1.0.0 knew 1 alone. */
const versionOf = ({ bound }: { readonly bound?: unknown }) => (bound === undefined ? 1 : 2);
const isOld = (sealed: string, place: CipherPlace) => place.bound !== undefined && sealed.startsWith('1.');

/** How each ciphertext of a key begins at a place, or in a column: always of the same length. */
export const prefixOf = (keyId: string, place: { readonly bound?: unknown } = {}) => `${versionOf(place)}.${keyId}.`;

/** AES-256-GCM with the given 32 bytes. */
export function createCipher(key: Buffer): Cipher {
	const keyId = createHash('sha256').update('handraise key id\0').update(key).digest('hex').slice(0, 8);
	const secret = createSecretKey(key);
	return {
		keyId,
		encrypt(text, place) {
			const nonce = randomBytes(NONCE_LENGTH);
			const cipher = createCipheriv(ALGORITHM, secret, nonce, { authTagLength: TAG_LENGTH });
			cipher.setAAD(additionalData(place));
			const sealed = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
			return prefixOf(keyId, place) + sealed.toString('base64');
		},
		decrypt(sealed, whole) {
			const place: CipherPlace = sealed.startsWith('1.') ? { ...whole, bound: undefined } : whole;
			const prefix = prefixOf(keyId, place);
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

export type KeyRing = Cipher & ReturnType<typeof createKeyRing>;

/** Encrypts with the first of these keys, and decrypts what any of them encrypted. */
export function createKeyRing(...all: readonly [Cipher, ...Cipher[]]) {
	const [{ keyId, encrypt }] = all;
	let opensOld = false;
	return {
		all,
		keyId,
		encrypt,
		/** Whether values of version 1 are read where 2 is written: else whoever can write the database moves them. */
		opensOld: () => opensOld,
		setOpensOld(isOpening: boolean): void {
			opensOld = isOpening;
		},
		decrypt(sealed: string, place: CipherPlace, ciphers: readonly Cipher[] = all): string | null {
			if (isOld(sealed, place) && !opensOld) return null;
			for (const cipher of ciphers) {
				const text = cipher.decrypt(sealed, place);
				if (text !== null) return text;
			}
			return null;
		},
	};
}

function additionalData({ table, id, column, bound }: CipherPlace): Buffer {
	return Buffer.from(JSON.stringify([String(versionOf({ bound })), table, id, column, ...(bound ?? [])]), 'utf8');
}

const KEY_LENGTH = 32;

/** Where the key is kept when `ENCRYPTION_KEY` is not set. */
export const keyFileIn = (dataDir: string) => join(dataDir, 'encryption.key');

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
 * Reads ENCRYPTION_KEY, and each line of ENCRYPTION_KEY_FORMER (UTF-16 is one). Throws `encryption_key_invalid`, a line
 * a problem.
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

/** Reads or makes `encryption.key`, atomically, private. Throws `encryption_key_invalid`, `StoreUnavailableError`. */
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
