import { createServer } from 'node:net';
import { ask } from './ask.ts';
import { type Finding, findingsOf } from './finding.ts';

/** Whether Handraise can listen on its port (Slack's requests in HTTP mode, health and metrics always), or does so now. */
export async function checkPort(port: number): Promise<Finding[]> {
	const { ok, warning, failure } = findingsOf('Port');
	if (port === 0) return [ok('PORT is 0: any free one will do.')];
	const problem = await listenOnce(port);
	if (problem === null) return [ok(`${port} is free.`)];
	if (problem === 'EACCES') return [failure(`${port} needs more rights than this user has: set PORT to 1024 or more.`)];
	if (problem !== 'EADDRINUSE')
		return [failure(`${port} cannot be listened on (${problem}): set PORT to another one.`)];
	const health = await ask(`http://127.0.0.1:${port}/healthz`, { timeoutMs: 3_000 });
	if (health.kind === 'no-answer' || health.body !== 'ok\n') {
		return [failure(`${port} is taken by another program: stop that one, or set PORT to another one.`)];
	}
	const ready = await ask(`http://127.0.0.1:${port}/readyz`, { timeoutMs: 3_000 });
	if (ready.kind === 'answer' && ready.status === 200) return [ok(`Handraise is running on ${port}, and ready.`)];
	const reasons = ready.kind === 'answer' ? ready.body.trim().split('\n').join(', ').slice(0, 200) : ready.why;
	return [warning(`Handraise is running on ${port}, but is not ready: ${reasons}. See its log.`)];
}

/** The error's code, or null when the port could be had; it is given back at once. */
async function listenOnce(port: number): Promise<string | null> {
	const server = createServer();
	const { promise, resolve } = Promise.withResolvers<string | null>();
	server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'unknown'));
	server.listen(port, () => server.close(() => resolve(null)));
	return promise;
}
