import { createHandraise } from './app.ts';
import { parseConfig, readSettings } from './config.ts';
import { createLog } from './kernel/log.ts';
import { ownVersion } from './kernel/own-version.ts';
import { applyProxy } from './kernel/proxy.ts';
import { command, runCommand } from './operator/command.ts';

/** By default Docker kills a process 10 s after SIGTERM. */
const STOP_WITHIN_MS = 9_500;

const stackOf = (error: unknown) => (error instanceof Error ? error.stack : error);

export const main = command(async (_, { env }) => {
	const config = parseConfig(env);
	const log = createLog(config.LOG_LEVEL);
	const { unknown, removed } = readSettings(env);
	for (const setting of unknown) log.warn('unknown_setting', { setting });
	for (const { setting, instead } of removed) log.warn('removed_setting', { setting, instead });
	const proxy = applyProxy(config.proxy);
	if (config.proxy !== null) log.info({ proxy: config.proxy.hosts }, 'a proxy is used, except for hosts in NO_PROXY');
	const stopping = new AbortController();
	const { promise: ended, resolve: end } = Promise.withResolvers<number>();
	const handraise = await createHandraise({ config, log, proxy });

	async function stop(exitCode: number, say: () => void): Promise<void> {
		if (stopping.signal.aborted) return;
		say();
		stopping.abort();
		const late = setTimeout(() => {
			log.error('stopped_unfinished');
			end(1);
		}, STOP_WITHIN_MS);
		await handraise.stop();
		clearTimeout(late);
		if (exitCode === 0) log.info({}, 'stopped');
		end(exitCode);
	}
	for (const signal of ['SIGTERM', 'SIGINT'] as const) {
		const say = () => log.info({ signal }, 'stopping: waiting for running deliveries and requests');
		process.on(signal, () => void stop(0, say));
	}
	void handraise.replaced.then((event) => stop(1, () => log.error(event)));
	process.on('unhandledRejection', (error) => log.error('unhandled_rejection', { err: error }));

	try {
		const { port } = await handraise.start(stopping.signal);
		const version = ownVersion();
		log.info({ port, transport: config.transport.kind, version, node: process.versions.node }, 'Handraise is ready');
	} catch (error) {
		if (!stopping.signal.aborted) {
			await handraise.stop();
			throw error;
		}
	}
	return ended;
}, stackOf);

await runCommand(import.meta, main, (status) => process.exit(status));
