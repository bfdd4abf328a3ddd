import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { needSettings } from './config.ts';
import { whoRunsIt } from './operator/command.ts';
import { backUp, comparePostgres, openRestore } from './store/backup.ts';

const USAGE = `Usage: npm run backup -- <new file>   copies SQLite's database, also while Handraise runs
       npm run restore -- <backup>    lists the answers that a backup lacks, asks, and replaces the stopped
                                      database by it (a script: echo yes | npm run restore -- <backup>)
With DATABASE_URL, <backup> is the name of a database on the same server, and nothing is replaced.`;

const isRestore = process.argv[2] === '--restore';
const [name, ...others] = process.argv.slice(isRestore ? 3 : 2);

const say = (line: string) => process.stdout.write(`${line}\n`);

async function restore(backup: string, databaseUrl: string | null, dataDir: string): Promise<string> {
	if (databaseUrl !== null) {
		for (const line of await comparePostgres(databaseUrl, backup)) say(line);
		return 'Nothing was changed. To go on with the backup, start all replicas with the DATABASE_URL of its database.';
	}
	const { lines, replace } = await openRestore(dataDir, backup);
	for (const line of lines) say(line);
	say('Type "yes" to replace the database by the backup:');
	for await (const line of createInterface({ input: process.stdin })) {
		if (line.trim() !== 'yes') break;
		const former = replace(whoRunsIt());
		const kept = former === null ? '' : ` The former database is ${former}`;
		return `Restored: ${resolve(dataDir, 'handraise.db')}.${kept}`;
	}
	throw new Error('nothing was changed.');
}

async function run(file: string): Promise<string> {
	const needed = /^(DATA_DIR|DATABASE_URL|PGSSLMODE)/;
	const { DATABASE_URL: databaseUrl, DATA_DIR: dataDir } = needSettings(process.env, needed);
	if (isRestore) return restore(file, databaseUrl, dataDir);
	if (databaseUrl !== null) throw new Error('with DATABASE_URL, pg_dump makes backups.');
	backUp(dataDir, file);
	return (
		`Written: ${resolve(file)}. It is a copy of ${resolve(dataDir, 'handraise.db')}, and cannot be read without ` +
		'the encryption key, which is not in it.'
	);
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
