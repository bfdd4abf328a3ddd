import type { Settings, SettingsReading } from '../config.ts';
import { parseBaseUrl, sessionPath } from '../session-service/address.ts';
import { MAX_PAGE_BYTES } from '../session-service/schema.ts';
import { inspectPostgres, inspectSqlite } from '../store/inspect.ts';
import type { Findings } from './report.ts';
import { createSlackCall, request } from './request.ts';

/** One check of the report. */
export interface Check {
	readonly name: string;
	/** Settings without which it is skipped. */
	readonly needs?: readonly (keyof Settings)[];
	/** Adds its findings. Changes nothing in the set-up. */
	readonly run: (findings: Findings, setup: Setup) => unknown;
}

/** What several checks need, asked once. Null: a setting for it is not usable. */
export type Setup = ReturnType<typeof askOnce>;

export function askOnce({ settings, problems, unknown }: SettingsReading) {
	const { SLACK_API_URL: apiUrl, SLACK_BOT_TOKEN: token } = settings;
	const call = apiUrl === undefined || token === undefined ? null : createSlackCall(apiUrl, token);
	return {
		settings,
		problems,
		unknown,
		/** Calls Slack with the bot token. */
		call,
		/** The reply to `auth.test`. */
		bot: call === null ? Promise.resolve(null) : call('auth.test'),
		service: askService(settings),
		database: inspect(settings),
	};
}

/** Does not exist. The service checks the key first, so "not found" means that it accepts the key. */
const MISSING_SESSION = 'handraise-doctor';

/** Reads a session that does not exist. `get` sends another request to the service. */
async function askService(settings: SettingsReading['settings']) {
	const { SESSION_SERVICE_URL: url, SESSION_SERVICE_API_KEY: key } = settings;
	if (url === undefined || key === undefined) return null;
	const address = parseBaseUrl(url);
	const get = (path: string) =>
		request(`${address.origin}${path}`, {
			headers: { 'x-api-key': key, accept: 'application/json' },
			timeoutMs: settings.SESSION_SERVICE_TIMEOUT_MS ?? 20_000,
			maxBytes: MAX_PAGE_BYTES,
		});
	return { url, address, get, response: await get(sessionPath(address, MISSING_SESSION)) };
}

/** What is in the database. */
export async function inspect(settings: SettingsReading['settings']) {
	const { DATABASE_URL: databaseUrl, DATA_DIR: dataDir } = settings;
	if (!('DATABASE_URL' in settings) || dataDir === undefined) return null;
	return databaseUrl === undefined ? inspectSqlite(dataDir) : inspectPostgres(databaseUrl);
}
