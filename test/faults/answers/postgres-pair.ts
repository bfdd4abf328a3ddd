import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { type OwnPostgres, startPostgres } from '../../support/postgres.ts';
import { createTcpProxy } from '../../support/tcp-proxy.ts';
import type { Harness } from '../harness.ts';
import type { Outage } from '../hits.ts';

/** What one failover took, in milliseconds. */
export interface Failover {
	/** From the death of the primary to the moment at which its address leads to the former standby. */
	readonly awayMs: number;
	/** From that moment to the first answer that the service gets; null: it got none. */
	firstMs: number | null;
	/** Accepted answers of which the former standby did not know that they had arrived. */
	readonly underWay: number;
}

/** A PostgreSQL with a synchronous standby, and an address that follows whichever of them is the primary. */
export async function startPostgresPair() {
	let primary = await startPostgres({ durable: true });
	let standby: OwnPostgres | null = null;
	const databaseUrl = await primary.createDatabase();
	const proxy = await createTcpProxy(databaseUrl, (client, connectOn) => {
		const server = connectOn();
		client.pipe(server);
		server.pipe(client);
	});
	const failovers: Failover[] = [];
	let killedAt = 0;
	let promotedAt = 0;

	async function asAdmin(url: string, ...statements: string[]) {
		const client = new pg.Client({ connectionString: url });
		await client.connect();
		try {
			let rows: Record<string, unknown>[] = [];
			for (const statement of statements) ({ rows } = await client.query(statement));
			return rows;
		} finally {
			await client.end();
		}
	}

	/** The primary dies in the middle of everything, and a while later its standby becomes the primary. */
	const outage: Outage = {
		everyTurn: true,
		async prepare() {
			if (standby !== null) return;
			standby = await primary.startStandby();
			const wait = "alter system set synchronous_standby_names = 'standby'";
			await asAdmin(primary.adminUrl, wait, 'select pg_reload_conf()');
			const isSynchronous = "select from pg_stat_replication where sync_state = 'sync'";
			while ((await asAdmin(primary.adminUrl, isSynchronous)).length === 0) await pause(50);
		},
		async stop() {
			killedAt = performance.now();
			await primary.kill();
		},
		async start() {
			if (standby === null) throw new Error('There is no standby.');
			await asAdmin(standby.adminUrl, 'select pg_promote(true, 60)');
			const url = new URL(databaseUrl);
			url.port = new URL(standby.adminUrl).port;
			const [row] = await asAdmin(
				url.href,
				"select count(*) as count from answers where state in ('accepted', 'delivering')",
			);
			await primary.close();
			[primary, standby] = [standby, null];
			proxy.lead(url.href);
			promotedAt = performance.now();
			failovers.push({ awayMs: promotedAt - killedAt, firstMs: null, underWay: Number(row?.count) });
		},
	};

	return {
		url: proxy.url,
		outage,
		failovers: failovers as readonly Failover[],
		/** Notes when the first answer after a failover is sent, which begins with a note in the database. */
		watch({ signals }: Pick<Harness, 'signals'>): void {
			signals.on('put', () => {
				const last = failovers.at(-1);
				if (last?.firstMs === null) last.firstMs = performance.now() - promotedAt;
			});
		},
		async [Symbol.asyncDispose]() {
			await proxy[Symbol.asyncDispose]();
			await Promise.all([primary.close(), standby?.close()]);
		},
	};
}
