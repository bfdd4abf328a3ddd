import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { HandraiseError } from '../errors.ts';
import { createCipher } from '../store/cipher.ts';
import { type KeySetting, keyFileIn, keyOf, parseEncryptionKey, readKeySetting } from '../store/encryption-key.ts';
import { type DatabaseLook, keyFits } from '../store/inspect.ts';
import { type Finding, findingsOf } from './finding.ts';

const { ok, warning, failure, skipped } = findingsOf('Encryption key');

/**
 * The key that the next start will use: whether it is one, and the one that the database was made with. `look` is null
 * when the database could not be looked at or is not there.
 */
export function checkEncryptionKey({
	given,
	dataDir,
	look,
}: {
	given: string | undefined;
	/** Null with PostgreSQL, which takes no key from a file. */
	dataDir: string | null;
	look: DatabaseLook | null;
}): Finding[] {
	if (given !== undefined) return judge(given, 'ENCRYPTION_KEY', look);
	if (dataDir === null) return [failure('ENCRYPTION_KEY is not set: all replicas need the same one.')];
	const path = keyFileIn(resolve(dataDir));
	const file = readKeyFile(path);
	if (file === 'absent') {
		if (look === null) return [skipped(`there is no ${path}, and the database could not be looked at.`)];
		if (look.keyCheck === null) {
			return [ok(`it will be made at the first start, in ${path}: keep a copy of it with the backups.`)];
		}
		return [
			failure(
				`${path} is gone, and the database was made with a key: restore it (or set ENCRYPTION_KEY) before the next start, or answers kept until now cannot be read.`,
			),
		];
	}
	if (file === 'unreadable') return [failure(`${path} cannot be read by this user: change its owner (chown).`)];
	const found = judge(file.text, path, look);
	if ((file.mode & 0o077) !== 0) {
		const mode = (file.mode & 0o777).toString(8).padStart(4, '0');
		found.push(warning(`${path} has mode ${mode}, so others on this machine may use the key: chmod 600 ${path}`));
	}
	return found;
}

function judge(text: string, source: string, look: DatabaseLook | null): Finding[] {
	let setting: KeySetting;
	try {
		setting =
			source === 'ENCRYPTION_KEY' ? readKeySetting(text) : { kind: 'key', key: parseEncryptionKey(text, source) };
	} catch (error) {
		if (!(error instanceof HandraiseError)) throw error;
		return [failure(`${error.message} For a database that is in use, restore the former key instead.`)];
	}
	if (look === null)
		return [ok(`${source} is well-formed; it could not be tried, since the database could not be looked at.`)];
	if (look.keyCheck === null) return [ok(`${source} is well-formed; the database is new and has none yet.`)];
	if (keyFits(look, createCipher(keyOf(setting, look.keySalt))))
		return [ok(`${source} is the one the database was made with.`)];
	return [
		failure(
			`${source} is not the key the database was made with: answers and drafts kept until now cannot be read. Restore the former one.`,
		),
	];
}

function readKeyFile(path: string): { readonly text: string; readonly mode: number } | 'absent' | 'unreadable' {
	try {
		return { text: readFileSync(path, 'utf8'), mode: statSync(path).mode };
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		return code === 'ENOENT' || code === 'ENOTDIR' ? 'absent' : 'unreadable';
	}
}
