import { createDecipheriv } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEncryptionKey } from '../../src/store/encryption.ts';

/** Bytes of a nonce, as `src/store/cipher.ts` writes it before the ciphertext. */
const NONCE_LENGTH = 12;
/** The end of `1.<key id>.` and what follows, be it cut off. */
const SEALED = /\.([A-Za-z0-9+/]{20,})/g;

/**
 * Which of `texts` somebody can read who has all files of a directory and the encryption key: as plain text, or in any
 * ciphertext, whole or cut off, wherever it stands in a file. Keys that are found encrypted are used in turn. Where a
 * ciphertext belongs does not matter here: that only guards against moving it.
 *
 * Reads the files as they are. Not for files that this process has open with SQLite, whose locks that would drop.
 */
export function readableRemains(directory: string, key: Buffer, texts: readonly string[]): string[] {
	const files = readdirSync(directory).map((name) => readFileSync(join(directory, name), 'latin1'));
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
	return texts.filter((text) => readable.some((one) => one.includes(text)));
}

/** GCM without its tag: the text of what may be only the beginning of a ciphertext, or rubbish. */
function decrypt(base64: string, key: Buffer): string {
	const bytes = Buffer.from(base64, 'base64');
	const counter = Buffer.concat([bytes.subarray(0, NONCE_LENGTH), Buffer.from([0, 0, 0, 2])]);
	return createDecipheriv('aes-256-ctr', key, counter).update(bytes.subarray(NONCE_LENGTH)).toString('latin1');
}

/** A key, with what may follow as the tag. */
function keyIn(text: string): Buffer | null {
	try {
		return parseEncryptionKey(text.slice(0, 44));
	} catch {
		return null;
	}
}
