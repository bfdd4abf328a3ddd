import { createDecipheriv } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEncryptionKey } from '../../../src/store/encryption.ts';

const NONCE_LENGTH = 12;
/** Bytes of a text: by chance, random bytes are as many printable characters once in 10^8 tries. */
const LEAST = 20;
const SEALED = /\.([A-Za-z0-9+/]{44,})/g;

/**
 * How many ciphertexts in the files of a directory this key opens, whole or cut off, and the keys that it finds so: what it
 * decrypts is text. Never call it for files that this process has open with SQLite: it would release their locks.
 */
export function opened(directory: string, key: Buffer): number {
	const files = readdirSync(directory).map((name) => readFileSync(join(directory, name), 'latin1'));
	const sealed = new Set(files.flatMap((file) => [...file.matchAll(SEALED)].map(([, base64 = '']) => base64)));
	const found = new Set<string>();
	const keys = [key];
	for (const one of keys) {
		for (const base64 of sealed) {
			const text = decrypted(base64, one);
			if (text === null) continue;
			found.add(base64);
			if (/^[A-Za-z0-9+/]{43}=/.test(text)) keys.push(parseEncryptionKey(text.slice(0, 44)));
		}
	}
	return found.size;
}

/** The beginning of the text, without a look at its tag; null for what is no text. */
function decrypted(base64: string, key: Buffer): string | null {
	const bytes = Buffer.from(base64, 'base64').subarray(0, NONCE_LENGTH + 48);
	const counter = Buffer.concat([bytes.subarray(0, NONCE_LENGTH), Buffer.from([0, 0, 0, 2])]);
	const text = createDecipheriv('aes-256-ctr', key, counter).update(bytes.subarray(NONCE_LENGTH)).toString('latin1');
	return /^[ -~]+$/.test(text.slice(0, LEAST)) ? text : null;
}
