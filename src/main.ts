import { createHandraise } from './app.ts';
import { parseConfig, unknownSettings } from './config.ts';
import { HandraiseError } from './errors.ts';
import { createLog } from './ops/log.ts';

/** Whoever started the process waits this long at most for it to end. */
const STOP_WITHIN_MS = 9_500;

/** Says what stands in the way, one line each, and ends with 1; only a mistake of ours gets a stack trace. */
function fail(error: unknown): never {
	const words = error instanceof HandraiseError ? error.message : error instanceof Error ? error.stack : String(error);
	process.stderr.write(`${words}\n`);
	process.exit(1);
}

async function main(): Promise<void> {
	const config = parseConfig(process.env);
	const log = createLog(config.logLevel);
	for (const setting of unknownSettings(process.env)) {
		log.warn({ setting }, 'no setting of Handraise has this name: is it misspelt?');
	}
	const stopping = new AbortController();
	const handraise = await createHandraise({ config, log });

	let isStopping = false;
	async function stop(signal: string): Promise<void> {
		if (isStopping) return;
		isStopping = true;
		log.info({ signal }, 'stopping: finishing what is being sent');
		stopping.abort();
		const late = setTimeout(() => {
			log.error({}, 'could not stop in time; leases run out by themselves');
			process.exit(1);
		}, STOP_WITHIN_MS);
		await handraise.stop();
		clearTimeout(late);
		log.info({}, 'stopped');
		process.exit(0);
	}
	for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stop(signal));
	process.on('unhandledRejection', (error) => {
		log.error({ err: error }, 'unhandled rejection');
	});

	try {
		const { port } = await handraise.start(stopping.signal);
		log.info({ port, transport: config.slack.transport.kind }, 'Handraise is ready');
	} catch (error) {
		if (isStopping) return;
		await handraise.stop();
		throw error;
	}
}

main().catch(fail);
