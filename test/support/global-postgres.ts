import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestProject } from 'vitest/node';
import { type OwnPostgres, startPostgres } from './postgres.ts';

declare module 'vitest' {
	interface ProvidedContext {
		/** The address under which `sharedPostgres` asks for the run's one server. */
		postgresBroker: string;
	}
}

/**
 * One PostgreSQL for the whole test run. It starts when a test file first asks, because most test files need none, and
 * stops after the last one.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
	let server: Promise<OwnPostgres> | null = null;
	const broker = createServer(async (_request, response) => {
		try {
			server ??= startPostgres();
			response.end((await server).adminUrl);
		} catch (error) {
			response.writeHead(500).end(String(error));
		}
	});
	await new Promise<void>((resolve) => broker.listen(0, '127.0.0.1', resolve));
	project.provide('postgresBroker', `http://127.0.0.1:${(broker.address() as AddressInfo).port}/`);
	return async () => {
		broker.closeAllConnections();
		await new Promise((resolve) => broker.close(resolve));
		// A test file that asked for a server that did not start got the reason.
		await server?.then(
			(started) => started.close(),
			() => undefined,
		);
	};
}
