import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestProject } from 'vitest/node';
import { type Certificate, createAuthority } from './certificates.ts';
import { type OwnPostgres, startPostgres } from './postgres.ts';

declare module 'vitest' {
	interface ProvidedContext {
		/** The address under which `sharedPostgres` asks for the run's one server. */
		postgresBroker: string;
		/** Of that server: the certificate of its authority, and one with which `by_certificate` is let in. */
		postgresTls: { readonly authority: string; readonly client: Certificate };
	}
}

/**
 * One PostgreSQL for the whole test run. It starts when a test file first asks, because most test files need none, and
 * stops after the last one.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
	let server: Promise<OwnPostgres> | null = null;
	const authority = createAuthority('Authority of the tests');
	const tls = { ...authority.issue('server', ['127.0.0.1']), authority: authority.cert };
	const broker = createServer(async (_request, response) => {
		try {
			server ??= startPostgres({ tls });
			response.end((await server).adminUrl);
		} catch (error) {
			response.writeHead(500).end(String(error));
		}
	});
	await new Promise<void>((resolve) => broker.listen(0, '127.0.0.1', resolve));
	project.provide('postgresBroker', `http://127.0.0.1:${(broker.address() as AddressInfo).port}/`);
	project.provide('postgresTls', { authority: authority.cert, client: authority.issue('by_certificate') });
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
