import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { readSettings, type Settings } from '../../config.ts';
import type { Clock } from '../../kernel/clock.ts';
import { HandraiseError } from '../../kernel/errors.ts';
import type { applyProxy } from '../../kernel/proxy.ts';
import { parseBaseUrl } from '../../service/service.ts';
import { type GivenKeys, parseEncryptionKey, readKeys } from '../../store/encryption.ts';
import { inspectPostgres, inspectSqlite } from '../../store/inspect.ts';
import { keyFileIn } from '../../store/key-file.ts';
import { createSlackCall, type Json, request } from './requests.ts';

export interface Invocation {
	readonly args: readonly string[];
	readonly env: NodeJS.ProcessEnv;
	readonly clock: Clock;
	readonly proxy: ReturnType<typeof applyProxy>;
	/** Aborted when the operator interrupts the live check. */
	readonly signal: AbortSignal;
	/** Takes the report, and as an error the usage. */
	readonly lines: Pick<Console, 'log' | 'error'>;
}

const VERDICT_SIGNS = { ok: '✓', warning: '!', failure: '✗', refused: '✗', skipped: '-' };

export interface Finding {
	/** `failure`: Handraise cannot work. `warning`: it works, but something is lost. `refused`: somebody may not act. */
	readonly verdict: keyof typeof VERDICT_SIGNS;
	readonly check: string;
	/** What was found and what to do. It holds no secret. */
	readonly text: string;
}

export type Findings = ReturnType<typeof findingsOf>;

/** Collects the findings of one check. Each call adds one and returns all, for a check to return. */
export function findingsOf(check: string) {
	const findings: Finding[] = [];
	const adds = (verdict: Finding['verdict']) => (text: string) => {
		findings.push({ verdict, check, text });
		return findings;
	};
	const ok = adds('ok');
	return {
		all: findings as readonly Finding[],
		ok,
		warning: adds('warning'),
		failure: adds('failure'),
		skipped: adds('skipped'),
		okIfNone: (text: string) => (findings.length === 0 ? ok(text) : findings),
	};
}

/** A line for the terminal, without control characters, because names and hosts come from outside. */
export function findingLine({ verdict, check, text }: Finding): string {
	return `${VERDICT_SIGNS[verdict]} ${check}: ${text}`.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ');
}

/** What a check throws when it cannot be made. */
export const notChecked = (why: string) => new HandraiseError(why, { code: 'not_checked' });

/** The id of no session. The service checks the key first, so "not found" means that it accepts the key. */
const MISSING_SESSION = 'handraise-doctor';

/** What several checks need, asked once. It throws or rejects with `notChecked` where a setting is not usable. */
export type Setup = ReturnType<typeof askOnce>;

export function askOnce(env: NodeJS.ProcessEnv) {
	const reading = readSettings(env);
	const { settings } = reading;

	/** A usable setting; null for an optional one that is not set. */
	function need<Name extends keyof Settings>(name: Name): Settings[Name] {
		if (!(name in settings)) throw notChecked(`${name} is not usable`);
		return settings[name] as Settings[Name];
	}

	const call = async (method: string, args: Json = {}) =>
		createSlackCall(need('SLACK_API_URL'), need('SLACK_BOT_TOKEN'))(method, args);

	/** Reads a session that does not exist. `get` sends another request to the service. */
	async function askService() {
		const url = need('SESSION_SERVICE_URL');
		const address = parseBaseUrl(url);
		const headers = { 'x-api-key': need('SESSION_SERVICE_API_KEY'), accept: 'application/json' };
		const timeoutMs = settings.SESSION_SERVICE_TIMEOUT_MS ?? 20_000;
		const get = (path: string) => request(`${address.origin}${path}`, { headers, timeoutMs });
		return { url, address, get, response: await get(address.pathOf(MISSING_SESSION)) };
	}

	/** The keys of the settings or the key file. Rejects when they are missing or not well-formed. */
	async function keys(): Promise<GivenKeys> {
		const { ENCRYPTION_KEY: own, ENCRYPTION_KEY_FORMER: former } = settings;
		if (own != null) return readKeys(own, former);
		const path = keyFileIn(resolve(need('DATA_DIR')));
		return { own: parseEncryptionKey(readFileSync(path, 'utf8'), path), formers: [] };
	}

	const inspectOnce = async () => inspect(need('DATABASE_URL'), need('DATA_DIR'), await keys().catch(() => null));
	const auth = call('auth.test');
	return {
		...reading,
		need,
		call,
		auth,
		keys,
		/** What Slack tells of the bot; null when it does not accept the token. */
		bot: auth.then((reply) => (reply.kind === 'ok' ? reply.data : null)).catch(() => null),
		service: askService(),
		database: inspectOnce(),
	};
}

/** Looks at the database. `keys`: counts the stored values that they open. */
export async function inspect(databaseUrl: string | null, dataDir: string, keys: GivenKeys | null = null) {
	return databaseUrl === null ? inspectSqlite(dataDir, keys) : inspectPostgres(databaseUrl, keys);
}
