import { createInterface } from 'node:readline';
import { readSettings } from './config.ts';
import { backUp, comparePostgres, openRestore } from './database/backup.ts';

const USAGE = `Usage: npm run backup -- <new file>   copies SQLite's database, also while Handraise runs
       npm run restore -- <backup>    lists the answers that a backup lacks, asks, and replaces the stopped database by it
With DATABASE_URL, <backup> is the name of a database on the same server, and nothing is replaced.`;

const isRestore = process.argv[2] === '--restore';
const [name, ...others] = process.argv.slice(isRestore ? 3 : 2);
const { DATABASE_URL: databaseUrl, DATA_DIR: dataDir = '' } = readSettings(process.env).settings;

const say = (line: string) => process.stdout.write(`${line}\n`);

async function restore(backup: string): Promise<string> {
	if (databaseUrl != null) {
		for (const line of await comparePostgres(databaseUrl, backup)) say(line);
		return 'Nothing was changed. To go on with the backup, start all replicas with the DATABASE_URL of its database.';
	}
	const { lines, replace } = await openRestore(dataDir, backup);
	for (const line of lines) say(line);
	say('Type "yes" to replace the database by the backup:');
	for await (const line of createInterface({ input: process.stdin })) {
		if (line.trim() !== 'yes') break;
		const former = replace();
		return `Restored.${former === null ? '' : ` The former database is ${former}`}`;
	}
	throw new Error('nothing was changed.');
}

async function run(file: string): Promise<string> {
	if (databaseUrl === undefined) throw new Error('DATABASE_URL or its file cannot be used: npm run doctor says why.');
	if (isRestore) return restore(file);
	if (databaseUrl !== null) throw new Error('with DATABASE_URL, pg_dump makes backups.');
	backUp(dataDir, file);
	return `Written: ${file}. It cannot be read without the encryption key, which is not in it.`;
}

if (name === undefined || others.length > 0) {
	process.stderr.write(`${USAGE}\n`);
	process.exitCode = 2;
} else {
	try {
		say(await run(name));
	} catch (error) {
		const reason = error instanceof Error ? error.message : String(error);
		process.stderr.write(`No ${isRestore ? 'restore' : 'backup'}: ${reason}\n`);
		process.exitCode = 1;
	}
}
