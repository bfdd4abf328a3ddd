import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, chown, cp, mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { freePort } from '../support/postgres.ts';
import { openTemporaryDirectory } from '../support/postgres-binaries.ts';
import { skipUnless } from '../support/skip-unless.ts';
import { createWorld } from '../support/world.ts';

// What the Dockerfile does, without an engine for containers: its files, its installation, its command and health check, as
// another user who can write to nothing but the data directory.

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** The user `node` of the image. */
const USER = 1000;
const isRoot = process.getuid?.() === 0;
const AS_USER = isRoot
	? [
			'/usr/bin/setpriv',
			`--reuid=${USER}`,
			`--regid=${USER}`,
			'--clear-groups',
			'--bounding-set=-all',
			'--no-new-privs',
		]
	: [];

/** The instructions, each on one line. */
async function readDockerfile() {
	const text = (await readFile(join(ROOT, 'Dockerfile'), 'utf8')).replaceAll(/^#.*\n/gm, '').replaceAll(/\\\n\s*/g, '');
	const all = (name: string) => [...text.matchAll(new RegExp(`^${name} (.*)$`, 'gm'))].map(([, rest = '']) => rest);
	const listIn = (line: string | undefined) => JSON.parse(/\[.*\]/.exec(line ?? '')?.[0] ?? '[]') as string[];
	return {
		copied: all('COPY').map((line) => line.split(' ')),
		commands: all('RUN'),
		env: Object.fromEntries(all('ENV').flatMap((line) => line.split(' ').map((pair) => pair.split('=')))),
		command: listIn(all('CMD')[0]),
		healthCheck: listIn(all('HEALTHCHECK')[0]),
	};
}

/** Name, size and time of every file, to see that nothing was written. */
async function filesOf(directory: string): Promise<string[]> {
	const names = await readdir(directory, { recursive: true });
	return Promise.all(
		names.toSorted().map(async (name) => {
			const { size, mtimeMs } = await stat(join(directory, name));
			return `${name} ${size} ${mtimeMs}`;
		}),
	);
}

it('what the Dockerfile copies and installs runs as an unprivileged user with a read-only root', {
	...skipUnless(!isRoot || existsSync('/usr/bin/setpriv'), 'root needs setpriv'),
	timeout: 180_000,
}, async () => {
	const image = await readDockerfile();
	const place = await mkdtemp(join(openTemporaryDirectory(), 'handraise-image-'));
	onTestFinished(async () => {
		execFileSync('chmod', ['-R', 'u+w', place]);
		await rm(place, { recursive: true });
	});
	const [app, data, bin] = [join(place, 'app'), join(place, 'data'), join(place, 'bin')];
	await Promise.all([app, data, bin].map((directory) => mkdir(directory)));
	const sent = (await readFile(join(ROOT, '.dockerignore'), 'utf8')).split('\n');
	for (const sources of image.copied) {
		const target = sources.pop() ?? '';
		for (const source of sources) {
			expect(sent).toContain(`!${source}`);
			await cp(join(ROOT, source), join(app, target === './' ? basename(source) : target), { recursive: true });
		}
	}
	await cp(process.execPath, join(bin, 'node'));
	const path = `${bin}:${process.env.PATH}`;
	const [install = '', check = '', makeData = ''] = image.commands;
	const [ci = '', clean] = install.split(' && ');
	expect([clean, makeData]).toEqual(['npm cache clean --force', 'mkdir /data && chown node:node /data']);
	for (const command of [ci, check])
		execFileSync('bash', ['-c', command], {
			cwd: app,
			stdio: 'pipe',
			env: { ...process.env, PATH: path, ...image.env },
		});
	const { packages } = JSON.parse(await readFile(join(app, 'package-lock.json'), 'utf8'));
	const { packages: installed } = JSON.parse(await readFile(join(app, 'node_modules/.package-lock.json'), 'utf8'));
	expect(Object.keys(installed).filter((name) => packages[name].dev === true)).toEqual([]);
	expect(Object.keys(installed).length).toBeGreaterThan(50);
	execFileSync('chmod', ['-R', 'a+rX,a-w', place]);
	if (isRoot) await chown(data, USER, USER);
	await chmod(data, 0o700);
	const before = await filesOf(app);

	const world = await createWorld();
	onTestFinished(() => world[Symbol.asyncDispose]());
	const env = {
		...world.env,
		...image.env,
		DATA_DIR: data,
		PORT: String(await freePort()),
		PATH: bin,
		HOME: '/nonexistent',
		TMPDIR: '/nonexistent',
	};
	const asUser = (command: readonly string[]) => {
		const [program = '', ...args] = [...AS_USER, join(bin, 'node'), ...command.slice(1)];
		return { program, args, options: { cwd: app, env } };
	};
	const run = (command: readonly string[]) => {
		const { program, args, options } = asUser(command);
		return spawnSync(program, args, { ...options, encoding: 'utf8' });
	};
	const { program, args, options } = asUser(image.command);
	const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'inherit'] });
	onTestFinished(() => void child.kill('SIGKILL'));
	let output = '';
	child.stdout.on('data', (chunk: Buffer) => {
		output += String(chunk);
	});
	await expect.poll(() => output, { timeout: 30_000 }).toContain('Handraise is ready');

	expect(run(image.healthCheck).status).toBe(0);
	expect(run(['node', '-e', `require('fs').writeFileSync('${app}/new', '')`]).stderr).toContain('EACCES');
	const backup = join(data, 'backup.db');
	expect(run(['node', 'src/backup.ts', backup])).toMatchObject({ status: 0, stderr: '' });
	expect(run(['node', 'src/audit.ts'])).toMatchObject({ status: 0, stderr: '' });
	expect(run(['node', 'src/manifest.ts']).stdout).toContain('command: /session');
	child.kill('SIGTERM');
	expect(await once(child, 'exit')).toEqual([0, null]);
	expect(output).toContain('"msg":"stopped"');
	expect(run(image.healthCheck).status).toBe(1);
	expect(await filesOf(app)).toEqual(before);
	expect((await readdir(data)).toSorted()).toEqual(['backup.db', 'encryption.key', 'handraise.db', 'handraise.lock']);
});
