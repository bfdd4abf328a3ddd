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
		guarded('Slack', examineSlack(settings)),
		guarded('Session service', examineService(settings)),
		guarded('Database', examineStore(settings)),
		guarded('Port', examinePort(settings)),
		guarded('Dashboard', examineDashboard(settings)),
	]);
	return [
		...checkNode(nodeVersion),
		...checkSettings(reading),
		...slack.findings,
		...port.findings,
		...service.findings,
		...dashboard.findings,
		...store.findings,
		...checkClock({ slackAheadMs: slack.aheadMs ?? null, serviceAheadMs: service.aheadMs ?? null }),
	];
}

interface Examined {
	readonly findings: readonly Finding[];
	/** How far the clock of the one who was asked is ahead of ours. */
	readonly aheadMs?: number | null;
}

/** A mistake in one check must not keep the others' findings back. */
async function guarded(check: string, examined: Promise<Examined>): Promise<Examined> {
	try {
		return await examined;
	} catch (error) {
		// Its message may quote what was looked at.
		const name = error instanceof Error ? error.name : typeof error;
		return { findings: [findingsOf(check).failure(`the check itself failed (${name}). Please report that.`)] };
	}
}

async function examinePort({ PORT }: Some): Promise<Examined> {
	return { findings: PORT === undefined ? [] : await checkPort(PORT) };
}

async function examineDashboard(settings: Some): Promise<Examined> {
	return { findings: 'SESSION_DASHBOARD_URL' in settings ? await checkDashboard(settings.SESSION_DASHBOARD_URL) : [] };
}

async function examineSlack(settings: Some): Promise<Examined> {
	const { SLACK_API_URL: apiUrl, SLACK_BOT_TOKEN: botToken } = settings;
	if (apiUrl === undefined) return { findings: [notLookedAt('Slack', 'SLACK_API_URL')] };
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
		return { findings: [notLookedAt('Session service', missing)] };
	}
	const answer = await askService({ SESSION_SERVICE_URL, SESSION_SERVICE_API_KEY, SESSION_SERVICE_TIMEOUT_MS });
	const limits = settings.SESSION_SERVICE_RPM === undefined ? [] : checkRateLimit(answer, settings.SESSION_SERVICE_RPM);
	return {
		findings: [...checkService(answer, SESSION_SERVICE_URL), ...limits],
		aheadMs: answer.kind === 'answer' ? answer.aheadMs : null,
	};
}

async function examineStore(settings: Some): Promise<Examined> {
	const { DATABASE_URL: databaseUrl, DATA_DIR: dataDir, ENCRYPTION_KEY: given } = settings;
	if (!('DATABASE_URL' in settings)) return { findings: [notLookedAt('Database', 'DATABASE_URL')] };
	if (databaseUrl !== undefined) {
		const look = await inspectPostgres(databaseUrl);
		const known = look.kind === 'database' ? look : null;
		return { findings: [...checkPostgres(look), ...checkEncryptionKey({ given, dataDir: null, look: known })] };
	}
	if (dataDir === undefined) return { findings: [notLookedAt('Database', 'DATA_DIR')] };
	const look = inspectSqlite(dataDir);
	const known = look.kind === 'absent' ? NEW_DATABASE : look.kind === 'database' ? look : null;
	const key = checkEncryptionKey({ given, dataDir, look: known });
	return { findings: [...checkDataDir(dataDir), ...checkSqlite(look), ...key] };
}

function notLookedAt(check: string, setting: string): Finding {
	return findingsOf(check).skipped(`not looked at, since ${setting} is not usable.`);
}
