import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { needSettings } from './config.ts';
import { type CommandIo, command, invalid, runCommand, whoRunsIt } from './operator/command.ts';
import { backUp, comparePostgres, openRestore } from './store/backup.ts';

const USAGE = `Usage: npm run backup -- <new file>   copies SQLite's database, also while Handraise runs
       npm run restore -- <backup>    lists the answers that a backup lacks, asks, and replaces the stopped
                                      database by it (a script: echo yes | npm run restore -- <backup>)
With DATABASE_URL, <backup> is the name of a database on the same server, and nothing is replaced.`;

async function restore(backup: string, databaseUrl: string | null, dataDir: string, { env, stdin, stdout }: CommandIo) {
	const say = (line: string) => stdout.write(`${line}\n`);
	if (databaseUrl !== null) {
		for (const line of await comparePostgres(databaseUrl, backup)) say(line);
		return 'Nothing was changed. To go on with the backup, start all replicas with the DATABASE_URL of its database.';
	}
	using opened = await openRestore(dataDir, backup);
	for (const line of opened.lines) say(line);
	say('Type "yes" to replace the database by the backup:');
	for await (const line of createInterface({ input: stdin })) {
		if (line.trim() !== 'yes') break;
		const former = opened.replace(whoRunsIt(env));
		const kept = former === null ? '' : ` The former database is ${former}`;
		return `Restored: ${resolve(dataDir, 'handraise.db')}.${kept}`;
	}
	throw new Error('nothing was changed.');
}

async function run(file: string, isRestore: boolean, io: CommandIo): Promise<string> {
	const needed = /^(DATA_DIR|DATABASE_URL|PGSSLMODE)/;
	const { DATABASE_URL: databaseUrl, DATA_DIR: dataDir } = needSettings(io.env, needed);
	if (isRestore) return restore(file, databaseUrl, dataDir, io);
	if (databaseUrl !== null) throw new Error('with DATABASE_URL, pg_dump makes backups.');
	backUp(dataDir, file);
	return (
		`Written: ${resolve(file)}. It is a copy of ${resolve(dataDir, 'handraise.db')}, and cannot be read without ` +
		'the encryption key, which is not in it.'
	);
}

export const main = command(async (argv, io) => {
	const isRestore = argv[0] === '--restore';
	const [name, ...others] = isRestore ? argv.slice(1) : argv;
	if (name === undefined || others.length > 0) throw invalid(USAGE, 'usage');
	try {
		io.stdout.write(`${await run(name, isRestore, io)}\n`);
		return 0;
	} catch (error) {
		const reason = error instanceof Error ? error.message : String(error);
		throw invalid(`No ${isRestore ? 'restore' : 'backup'}: ${reason}`);
	}
});

await runCommand(import.meta, main);
