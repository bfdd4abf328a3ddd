import { randomBytes, scryptSync } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { EncryptionKeyInvalidError, StoreUnavailableError } from './errors.ts';

const KEY_LENGTH = 32;
const HOW = 'Make one with `openssl rand -base64 32`.';

/** Where the key is kept when `ENCRYPTION_KEY` is not set. */
export const keyFileIn = (dataDir: string) => join(dataDir, 'encryption.key');

/**
 * Reads a key as it is: exactly 32 bytes, as 64 hexadecimal digits or as base64 (either alphabet, padding optional).
 * Throws `EncryptionKeyInvalidError` for anything else.
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
	throw new EncryptionKeyInvalidError(
		`${source} must be ${KEY_LENGTH} bytes as base64 (44 characters) or hexadecimal (64)${orElse}; it has ${trimmed.length} characters. ${HOW}`,
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
 * more is a passphrase. Throws `EncryptionKeyInvalidError` for a shorter one.
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
 * alone. Throws `EncryptionKeyInvalidError` when it holds something else, `StoreUnavailableError` when it cannot be had.
 */
export function loadOrMakeKeyFile(dataDir: string): Buffer {
	const path = keyFileIn(dataDir);
	try {
		return parseEncryptionKey(readOrMake(path), path);
	} catch (error) {
		if (error instanceof EncryptionKeyInvalidError) throw error;
		throw new StoreUnavailableError(`The encryption key file ${path} can be neither read nor made.`, { cause: error });
	}
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
