import type { Clock } from '../clock.ts';
import { readSettings, type Settings } from '../config.ts';
import { HandraiseError } from '../errors.ts';
import type { applyProxy } from '../proxy.ts';
import { parseBaseUrl, sessionPath } from '../session-service/address.ts';
import { inspectPostgres, inspectSqlite } from '../store/inspect.ts';
import { createSlackCall, type Json, request } from './request.ts';

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

const MARKS = { ok: '✓', warning: '!', failure: '✗', skipped: '-' };

export interface Finding {
	/** `failure`: Handraise cannot work. `warning`: it works, but something is lost. `skipped`: not checked. */
	readonly verdict: keyof typeof MARKS;
	readonly check: string;
	/** What was found and what to do. It holds no secret. */
	readonly text: string;
}

export type Findings = ReturnType<typeof findingsOf>;

/** Collects the findings of one check. Each call adds one and returns all, so that a check can return it. */
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
		/** Adds `ok` when the check found nothing else. */
		okIfNone: (text: string) => (findings.length === 0 ? ok(text) : findings),
	};
}

/** A line for the terminal, without control characters, because names and hosts come from outside. */
export function lineOf({ verdict, check, text }: Finding): string {
	return `${MARKS[verdict]} ${check}: ${text}`.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ');
}

/** `1 thing`, `2 things` */
export function counted(count: number, noun: string): string {
	return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** What a check throws when it cannot be made. */
export const notChecked = (why: string) => new HandraiseError(why, { code: 'not_checked' });

/** Does not exist. The service checks the key first, so "not found" means that it accepts the key. */
const MISSING_SESSION = 'handraise-doctor';

/** What several checks need, asked once. Where a setting for it is not usable, it throws or rejects with `notChecked`. */
export type Setup = ReturnType<typeof askOnce>;

export function askOnce(env: NodeJS.ProcessEnv) {
	const reading = readSettings(env);
	const { settings } = reading;

	/** A usable setting; undefined for an optional one that is not set. */
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
		return { url, address, get, response: await get(sessionPath(address, MISSING_SESSION)) };
	}

	const inspectOnce = async () => inspect(need('DATABASE_URL'), need('DATA_DIR'));
	const auth = call('auth.test');
	return {
		...reading,
		need,
		call,
		auth,
		/** What Slack tells of the bot; null when it does not accept the token. */
		bot: auth.then(
			(reply) => (reply.kind === 'ok' ? reply.data : null),
			() => null,
		),
		service: askService(),
		database: inspectOnce(),
	};
}

/** A look into the database that the settings name. */
export async function inspect(databaseUrl: string | null | undefined, dataDir: string) {
	return databaseUrl == null ? inspectSqlite(dataDir) : inspectPostgres(databaseUrl);
}
