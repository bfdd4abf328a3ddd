import { execFileSync } from 'node:child_process';
import { createDecipheriv } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEncryptionKey } from '../../src/store/encryption.ts';

/** Bytes of the nonce before the ciphertext, see `src/store/encryption.ts`. */
const NONCE_LENGTH = 12;
/** The end of `1.<key id>.` and what follows, even if cut off. */
const SEALED = /\.([A-Za-z0-9+/]{20,})/g;

/**
 * Returns which of `texts` can be read with all files of a directory and the encryption key: as plain text, or in any
 * ciphertext at any position, whole or cut off. Also uses keys that it finds encrypted. Ignores the place of a ciphertext,
 * which only prevents moving it.
 *
 * Files that this process has open with SQLite only with `onCopy`.
 */
export function readableRemains(directory: string, key: Buffer, texts: readonly string[]): string[] {
	const entries = readdirSync(directory, { withFileTypes: true }).filter((entry) => !entry.isSocket());
	const files = entries.map(({ name }) => readFileSync(join(directory, name), 'latin1'));
	const sealed = new Set(files.flatMap((file) => [...file.matchAll(SEALED)].map(([, base64 = '']) => base64)));
	const keys = [key];
	const readable = [...files];
	for (const one of keys) {
		for (const base64 of sealed) {
			const text = decrypt(base64, one);
			readable.push(text);
			const found = keyIn(text);
			if (found !== null && !keys.some((known) => known.equals(found))) keys.push(found);
		}
	}
	const all = readable.join('\n');
	return texts.filter((text) => all.includes(text));
}

/** Reads a copy made by another process: reading the files here would release this process's locks on them. */
export function onCopy<T>(directory: string, read: (copy: string) => T): T {
	const copy = mkdtempSync(join(tmpdir(), 'handraise-copy-'));
	try {
		execFileSync('cp', ['-r', `${directory}/.`, copy]);
		return read(copy);
	} finally {
		rmSync(copy, { recursive: true, force: true });
	}
}

/** GCM without its tag: decrypts the beginning of a ciphertext, or gives random bytes. */
function decrypt(base64: string, key: Buffer): string {
	const bytes = Buffer.from(base64, 'base64');
	const counter = Buffer.concat([bytes.subarray(0, NONCE_LENGTH), Buffer.from([0, 0, 0, 2])]);
	return createDecipheriv('aes-256-ctr', key, counter).update(bytes.subarray(NONCE_LENGTH)).toString('latin1');
}

/** A key, perhaps followed by a tag. */
function keyIn(text: string): Buffer | null {
	try {
		return parseEncryptionKey(text.slice(0, 44));
	} catch {
		return null;
	}
}
