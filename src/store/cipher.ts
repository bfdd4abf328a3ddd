import { createCipheriv, createDecipheriv, createHash, createSecretKey, randomBytes } from 'node:crypto';

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
