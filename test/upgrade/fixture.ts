import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { getGlobalDispatcher, setGlobalDispatcher } from 'undici';
import type { SavedSession } from '../../fake-session-service/sessions.ts';
import type { SlackState } from '../../fake-slack/index.ts';
import { keyFileIn } from '../../src/store/key-file.ts';
import { settingsApp } from '../people/settings/harness.ts';
import { KEY } from '../store/support.ts';
import { createConnectProxy } from '../support/connect-proxy.ts';
import { directoryOf, type Release, type StoreName, schemaOf } from './releases.ts';
import { loadRows, type Rows } from './rows.ts';
import { HIDDEN } from './story.ts';

/*
 * A fixture is what a release left when it was stopped: the schema and the rows of its database, and with them what Slack
 * and the session service hold. SQLite and PostgreSQL have one each, because SQLite encrypts secret values with a key of
 * its own, which stands in `meta`.
 */

export interface Fixture {
	/** Milliseconds since the epoch: the times in it mean something until a little later. */
	readonly stoppedAt: number;
	readonly slack: SlackState;
	readonly sessions: readonly SavedSession[];
	/** The statements that make its tables. */
	readonly schema: string;
	readonly rows: Rows;
}

/** Of a row: a column that is left out is null again. */
export const withoutNulls = (row: object) =>
	Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null));

export async function readFixture(release: Release, store: StoreName): Promise<Fixture> {
	const lines = (await readFile(join(directoryOf(release), `${store}.jsonl`), 'utf8')).trimEnd().split('\n');
	const values = lines.flatMap((line) => Object.entries(JSON.parse(line)));
	const parts: Record<string, unknown[]> = {};
	for (const [part, ofPart] of Map.groupBy(values, ([name]) => name)) parts[part] = ofPart.map(([, value]) => value);
	const { stoppedAt, workspace, message, view, session, ...rows } = parts;
	const views = Object.fromEntries((view as SlackState['views'][string][]).map((one) => [one.id, one]));
	return {
		stoppedAt: Number(stoppedAt?.[0]),
		slack: { ...(workspace?.[0] as SlackState), messages: message as SlackState['messages'], views },
		sessions: session as SavedSession[],
		schema: schemaOf(release, store),
		rows: rows as Rows,
	};
}

/** How long an upgrade takes. The time for *Undo* is not over then. */
const UPGRADE_MS = 5_000;
/** Rows have the service's address, and so have ciphertexts: a host that only the proxy knows. */
const HOST = 'sessions.example';

/**
 * The program on a clock that only tests move, which Slack and the session service share. That clock replaces the
 * store's: on PostgreSQL the program otherwise takes the server's time. The session service is still down.
 */
export async function startFrom(fixture: Fixture, databaseUrl: string | undefined) {
	const dispatcher = getGlobalDispatcher();
	const proxy = await createConnectProxy();
	const app = await settingsApp({
		oneClock: true,
		startAt: fixture.stoppedAt + UPGRADE_MS,
		slack: { state: fixture.slack },
		env: {
			// Lists take 30 of them.
			SESSION_SERVICE_RPM: '120',
			SESSION_SERVICE_URL: `http://${HOST}`,
			HTTP_PROXY: proxy.url,
			DISCOVER_SESSIONS: 'true',
			UNDO_SECONDS: '60',
			...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl, ENCRYPTION_KEY: KEY }),
		},
		// Agents go on when a test says so. Lists have one session, or #secret would get all questions again.
		service: { list: { mode: 'on', hidden: new Set(HIDDEN) }, resumeAfterMs: null },
		async prepare({ dataDir, service }) {
			proxy.lead(HOST, Number(new URL(service.url).port));
			if (databaseUrl === undefined) await writeFile(keyFileIn(dataDir), KEY, { mode: 0o600 });
			service.sessions.restore(fixture.sessions);
			await loadRows(databaseUrl ?? dataDir, fixture);
			await service.goDown();
		},
	});
	return {
		...app,
		async [Symbol.asyncDispose]() {
			await app.app[Symbol.asyncDispose]();
			await proxy[Symbol.asyncDispose]();
			setGlobalDispatcher(dispatcher);
		},
	};
}

export type UpgradedApp = Awaited<ReturnType<typeof startFrom>>;
