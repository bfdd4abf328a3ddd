import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';

const READER = `const { DatabaseSync } = require('node:sqlite');
const database = new DatabaseSync(process.argv[1]);
database.exec('begin');
database.prepare('select * from meta').all();
setInterval(() => database, 1_000);
console.log('reads');`;

/** Another process that reads this database of SQLite in a transaction, until what is returned is called. */
export async function startReader(path: string): Promise<() => Promise<unknown>> {
	const child = spawn(process.execPath, ['--eval', READER, path], { stdio: ['ignore', 'pipe', 'inherit'] });
	const ended = once(child, 'exit');
	onTestFinished(() => void child.kill());
	await once(child.stdout, 'data');
	return () => {
		child.kill();
		return ended;
	};
}
