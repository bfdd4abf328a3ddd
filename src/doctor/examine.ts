import type { Settings, SettingsReading } from '../config.ts';
import { NEW_DATABASE } from '../store/inspect.ts';
import { inspectPostgres } from '../store/inspect-postgres.ts';
import { inspectSqlite } from '../store/inspect-sqlite.ts';
import { checkAccess, createSlackAsk } from './access.ts';
import { checkAppToken } from './app-token.ts';
import { checkBotToken } from './bot-token.ts';
import { checkClock } from './clock.ts';
import { checkDashboard } from './dashboard.ts';
import { checkDataDir } from './data-dir.ts';
import { checkPostgres, checkSqlite } from './database.ts';
import { checkEncryptionKey } from './encryption-key.ts';
import { type Finding, findingsOf } from './finding.ts';
import { checkHttpMode } from './http-mode.ts';
import { checkNode } from './node-version.ts';
import { checkPort } from './port.ts';
import { checkScopes } from './scopes.ts';
import { askService, checkRateLimit, checkService } from './service.ts';
import { checkSettings } from './settings.ts';
import { createSlackCall } from './slack-call.ts';

type Some = Partial<Settings>;

/** Runs every check for which the settings suffice, in the order of the report. Changes nothing anywhere. */
export async function examine(reading: SettingsReading, nodeVersion: string): Promise<Finding[]> {
	const { settings } = reading;
	const [slack, service, store, port, dashboard] = await Promise.all([
		examineSlack(settings),
		examineService(settings),
		examineStore(settings),
		settings.PORT === undefined ? [] : checkPort(settings.PORT),
		'SESSION_DASHBOARD_URL' in settings ? checkDashboard(settings.SESSION_DASHBOARD_URL) : [],
	]);
	return [
		...checkNode(nodeVersion),
		...checkSettings(reading),
		...slack.findings,
		...port,
		...service.findings,
		...dashboard,
		...store,
		...checkClock({ slackAheadMs: slack.aheadMs, serviceAheadMs: service.aheadMs }),
	];
}

interface Examined {
	readonly findings: readonly Finding[];
	readonly aheadMs: number | null;
}

async function examineSlack(settings: Some): Promise<Examined> {
	const { SLACK_API_URL: apiUrl, SLACK_BOT_TOKEN: botToken } = settings;
	if (apiUrl === undefined) return { findings: [notLookedAt('Slack', 'SLACK_API_URL')], aheadMs: null };
	const call = createSlackCall(apiUrl);
	const bot = botToken === undefined ? null : await call('auth.test', botToken);
	const ask = bot?.kind === 'ok' && botToken !== undefined ? createSlackAsk(call, botToken) : null;
	const [transport, access] = await Promise.all([
		examineTransport(settings, (token) => checkAppToken(call, token, bot)),
		checkAccess(settings, ask),
	]);
	return {
		findings: [
			...(bot === null ? [notLookedAt('Bot token', 'SLACK_BOT_TOKEN')] : checkBotToken(bot)),
			...(bot === null ? [] : checkScopes(bot, settings)),
			...transport,
			...access,
		],
		aheadMs: bot?.answer?.aheadMs ?? null,
	};
}

async function examineTransport(
	settings: Some,
	checkSocket: (token: string) => Promise<Finding[]>,
): Promise<Finding[]> {
	if (!('SLACK_APP_TOKEN' in settings)) return [notLookedAt('Socket Mode', 'SLACK_APP_TOKEN')];
	if (settings.SLACK_APP_TOKEN !== undefined) return checkSocket(settings.SLACK_APP_TOKEN);
	if (settings.SLACK_SIGNING_SECRET !== undefined) return checkHttpMode(settings.SLACK_SIGNING_SECRET);
	return [];
}

async function examineService(settings: Some): Promise<Examined> {
	const { SESSION_SERVICE_URL, SESSION_SERVICE_API_KEY, SESSION_SERVICE_TIMEOUT_MS = 20_000 } = settings;
	if (SESSION_SERVICE_URL === undefined || SESSION_SERVICE_API_KEY === undefined) {
		const missing = SESSION_SERVICE_URL === undefined ? 'SESSION_SERVICE_URL' : 'SESSION_SERVICE_API_KEY';
		return { findings: [notLookedAt('Session service', missing)], aheadMs: null };
	}
	const answer = await askService({ SESSION_SERVICE_URL, SESSION_SERVICE_API_KEY, SESSION_SERVICE_TIMEOUT_MS });
	const limits = settings.SESSION_SERVICE_RPM === undefined ? [] : checkRateLimit(answer, settings.SESSION_SERVICE_RPM);
	return {
		findings: [...checkService(answer, SESSION_SERVICE_URL), ...limits],
		aheadMs: answer.kind === 'answer' ? answer.aheadMs : null,
	};
}

async function examineStore(settings: Some): Promise<Finding[]> {
	const { DATABASE_URL: databaseUrl, DATA_DIR: dataDir, ENCRYPTION_KEY: given } = settings;
	if (!('DATABASE_URL' in settings)) return [notLookedAt('Database', 'DATABASE_URL')];
	if (databaseUrl !== undefined) {
		const look = await inspectPostgres(databaseUrl);
		const known = look.kind === 'database' ? look : null;
		return [...checkPostgres(look), ...checkEncryptionKey({ given, dataDir: null, look: known })];
	}
	if (dataDir === undefined) return [notLookedAt('Database', 'DATA_DIR')];
	const look = inspectSqlite(dataDir);
	const known = look.kind === 'absent' ? NEW_DATABASE : look.kind === 'database' ? look : null;
	return [...checkDataDir(dataDir), ...checkSqlite(look), ...checkEncryptionKey({ given, dataDir, look: known })];
}

function notLookedAt(check: string, setting: string): Finding {
	return findingsOf(check).skipped(`not looked at, since ${setting} is not usable.`);
}
