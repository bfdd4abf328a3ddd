import { randomBytes } from 'node:crypto';
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { StoreUnavailableError } from '../kernel/errors.ts';
import { KEY_LENGTH, parseEncryptionKey } from './encryption.ts';
import { syncDirectory } from './sqlite.ts';

/** Where the key is kept when `ENCRYPTION_KEY` is not set. */
export const keyFileIn = (dataDir: string) => join(dataDir, 'encryption.key');

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
