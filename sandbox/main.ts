import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createSandbox } from './sandbox.ts';

/** The usual port. When it is busy, a free one is taken. */
const USUAL_PORT = 4321;

/** Not under version control. */
const KEPT = fileURLToPath(new URL('../.cache/sandbox', import.meta.url));

const OPTIONS = {
	'no-bot': { type: 'boolean', default: false },
	keep: { type: 'boolean', default: false },
	port: { type: 'string' },
} as const;

function readOptions() {
	try {
		const options = parseArgs({ options: OPTIONS });
		const { port } = options.values;
		if (port !== undefined && !(/^\d+$/.test(port) && Number(port) <= 65_535))
			throw new Error(`--port ${port} is no port`);
		return options;
	} catch (error) {
		console.error(error instanceof Error ? error.message : error);
		console.error('Options: --port NUMBER, --keep, --no-bot. See sandbox/README.md.');
		process.exit(1);
	}
}

const { values } = readOptions();

const sandbox = await createSandbox({
	port: Number(values.port ?? USUAL_PORT),
	withBot: !values['no-bot'],
	...(values.keep ? { keepIn: KEPT } : {}),
	// Its agents belong to whoever starts it.
	appEnv: { DISCOVER_SESSIONS: 'true' },
	onLine(line, isProblem) {
		if (isProblem) console.error(line);
	},
});
console.log(`Handraise sandbox: ${sandbox.url}/  (Ctrl-C stops it)`);
if (values['no-bot']) {
	console.log('\nStart the app yourself, with these settings:\n');
	for (const [name, value] of Object.entries({ ...sandbox.env, DATA_DIR: './data', PORT: '3000' })) {
		console.log(`export ${name}=${value}`);
	}
	console.log('npm run dev');
}

process.once('exit', () => sandbox.bot?.abandon());
let stopping = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
	process.on(signal, () => {
		// The second Ctrl-C ends everything at once.
		if (stopping) process.exit(1);
		stopping = true;
		void sandbox.close().then(() => process.exit(0));
	});
}
