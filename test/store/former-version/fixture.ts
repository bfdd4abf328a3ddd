import { mkdir, readFile, writeFile } from 'node:fs/promises';
import type { SlackState } from '../../../fake-slack/index.ts';
import type { SavedSession } from '../../../sandbox/session-service/sessions.ts';
import { createCipher } from '../../../src/store/encryption.ts';

/** Which fixture: the store, and the number of its schema. */
export interface Which {
	readonly kind: 'sqlite' | 'postgres';
	readonly schema: number;
}

/** The key of the fixtures' databases; it encrypts nothing else. */
export const FIXTURE_KEY = Buffer.alloc(32, 'handraise fixture').toString('base64');
/** The session service's address in the stored databases. */
const FIXTURE_SERVICE = 'http://service.fixture';

/** Must not be readable in any file of the fixture. */
export const SECRETS = { live: 'former-secret-3141', waiting: 'former-secret-2718' } as const;

/** The state when the program was killed. */
export interface FormerVersion {
	/** Milliseconds since the epoch. */
	readonly stoppedAt: number;
	/** The database, as SQL. */
	readonly sql: string;
	/** The sessions of the session service. */
	readonly sessions: readonly SavedSession[];
	/** The messages in Slack. */
	readonly slack: SlackState;
}

/** Times of a fixture are no further than this from its end. */
const SPAN_MS = 2 * 24 * 3_600_000;

export async function readFormerVersion(which: Which): Promise<FormerVersion> {
	const [sql, json] = await Promise.all([
		readFile(fileOf(which, 'sql'), 'utf8'),
		readFile(fileOf(which, 'json'), 'utf8'),
	]);
	return { ...(JSON.parse(json) as Omit<FormerVersion, 'sql'>), sql };
}

/** Adapts the database to this address of the session service and this time of the kill. */
export function sqlMovedTo({ sql, sessions, stoppedAt }: FormerVersion, to: Where): string {
	return move(sql, sessions, { service: FIXTURE_SERVICE, stoppedAt }, to);
}

/** Stores a fixture that was made with the session service at `service`. */
export async function writeFormerVersion(which: Which, made: FormerVersion, service: string): Promise<void> {
	const { sql, ...around } = made;
	const { stoppedAt, sessions } = made;
	await mkdir(new URL('.', fileOf(which, 'sql')), { recursive: true });
	await writeFile(
		fileOf(which, 'sql'),
		move(sql, sessions, { service, stoppedAt }, { service: FIXTURE_SERVICE, stoppedAt }),
	);
	await writeFile(fileOf(which, 'json'), `${JSON.stringify(around)}\n`);
}

function fileOf({ kind, schema }: Which, extension: 'sql' | 'json'): URL {
	return new URL(`schema-${schema}/${kind}.${extension}`, import.meta.url);
}

interface Where {
	readonly service: string;
	readonly stoppedAt: number;
}

/**
 * Adapts address and times of the database. All its times are numbers of 13 digits (ms) or 10 (s, in the request budget).
 * The ciphertext in `watched_sessions.view` is bound to the service's address and is encrypted again; decrypting shows
 * which ciphertexts are of that kind. All others stay as the former version wrote them.
 */
function move(sql: string, sessions: readonly SavedSession[], from: Where, to: Where): string {
	const cipher = createCipher(Buffer.from(FIXTURE_KEY, 'base64'));
	const placeOf = (service: string, sessionId: string) => ({
		table: 'watched_sessions',
		id: JSON.stringify([service, sessionId]),
		column: 'view',
	});

	function moveTimes(text: string): string {
		return text.replace(/\b\d{10}(?:\d{3})?\b/g, (digits) => {
			const unitMs = digits.length === 13 ? 1 : 1_000;
			const distance = Number(digits) - Math.floor(from.stoppedAt / unitMs);
			return Math.abs(distance * unitMs) < SPAN_MS ? String(Math.floor(to.stoppedAt / unitMs) + distance) : digits;
		});
	}

	function moveView(sealed: string): string {
		for (const { id } of sessions) {
			const view = cipher.decrypt(sealed, placeOf(from.service, id));
			if (view !== null) return cipher.encrypt(moveTimes(view), placeOf(to.service, id));
		}
		return sealed;
	}

	return moveTimes(sql)
		.replaceAll(from.service, to.service)
		.replace(/\b1\.[0-9a-f]{8}\.[A-Za-z0-9+/]+=*/g, moveView);
}
