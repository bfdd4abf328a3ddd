import { spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { COMPILE_CACHE } from '../sandbox/compile-cache.ts';
import { readSettings } from '../src/config.ts';
import { main as doctor } from '../src/doctor.ts';
import { readKeys } from '../src/store/encryption.ts';
import { runHere } from './support/commands.ts';
import { AS_PLAIN_ROOT, NOBODY, WITH_NOBODY } from './support/other-user.ts';

const folder = mkdtempSync(join(tmpdir(), 'handraise-env-file-'));
afterAll(() => rmSync(folder, { recursive: true }));
const PATH = join(folder, '.env');

const CONNECTIONS = `SLACK_BOT_TOKEN=xoxb-1
SLACK_APP_TOKEN=xapp-1
SESSION_SERVICE_URL=https://service.example
SESSION_SERVICE_API_KEY=key-1
`;
const LIST = 'ALLOWED_USERS=U0SECRET';

/** Runs a command of the operator with this `.env`, of which Node.js reads what it reads. */
function run(content: string | Buffer, args: readonly string[], input = '') {
	writeFileSync(PATH, content);
	const [file = '', ...others] = args;
	const option = others.includes('--restore') ? ['--env-file', '.env'] : ['--env-file-if-exists=.env'];
	const command = [...option, new URL(`../src/${file}`, import.meta.url).pathname, ...others];
	const options = { cwd: folder, env: { PATH: process.env.PATH ?? '', ...COMPILE_CACHE }, input };
	const { status, stdout, stderr } = spawnSync(process.execPath, command, { ...options, encoding: 'utf8' });
	return { status, lines: `${stdout}${stderr}`.trimEnd().split('\n') };
}

/** What `readSettings` makes of each of these, which Node.js reads one after another. */
function readAll(contents: readonly (string | Buffer)[]): readonly { problems: string[]; users: unknown }[] {
	const before = Object.keys(process.env);
	return contents.map((content, index) => {
		const path = join(folder, `${index}.env`);
		writeFileSync(path, content);
		process.loadEnvFile(path);
		const { problems, settings } = readSettings(process.env, /^/, [path]);
		for (const name of Object.keys(process.env)) if (!before.includes(name)) delete process.env[name];
		return { problems: problems.map((line) => line.replace(`${folder}/`, '')), users: settings.ALLOWED_USERS };
	});
}

const utf32 = (text: string) => Buffer.from(Uint32Array.from(text, (sign) => sign.codePointAt(0) ?? 0).buffer);
const utf16 = (text: string) => Buffer.from(text, 'utf16le');

/** Ways in which an open quotation mark keeps the list of allowed users from being read. Each is the end of a file. */
const SWALLOWED: Readonly<Record<string, string>> = {
	'of a setting': `ADMIN_CONTACT="Ada\n${LIST}\nNOTE="x"`,
	"of another program's": `NOTE='Ada\n export ${LIST.replace('=', ' = ')}\nOTHER='x'`,
};
/** Ends in which it is read, and no mark is open. */
const READ: Readonly<Record<string, string>> = {
	plain: LIST,
	'with quotation marks': 'ALLOWED_USERS="U0SECRET" # not ALLOWED_USERS=U0OTHER',
	'beside texts': `${LIST}\nADMIN_CONTACT='Ada puts you into ALLOWED_USERS="U…"'`,
	'beside a text of several lines':
		`ADMIN_CONTACT="Ada \\n about\nwho is in ALLOWED_USERS=\nALLOWED_USERS=x, or not"\n${LIST}\n` +
		'ENCRYPTION_KEY=a new pass phrase\nENCRYPTION_KEY_FORMER="Yw==\nthe DATA_DIR passphrase\nb3RoZXI="',
};

describe('a line of .env with a setting', () => {
	it('that an open quotation mark put into another value is one problem, which names it and holds no value', () => {
		const cases = Object.entries(SWALLOWED);
		const found = readAll(cases.map(([, end]) => `${CONNECTIONS}${end}\n`));
		const line = 'ALLOWED_USERS stands in the value of another setting: close the quotation mark above it';
		expect(found.map(({ problems }) => problems)).toEqual(cases.map(() => [line]));
	});

	it('is read from others without a problem', () => {
		const found = readAll(Object.values(READ).map((end) => `${CONNECTIONS}${end}\n`));
		expect(found).toEqual(Object.keys(READ).map(() => ({ problems: [], users: ['U0SECRET'] })));
	});

	it('in the value of another one in the environment itself, as systemd gives it, is one problem as well', () => {
		const env = Object.fromEntries(
			CONNECTIONS.trim()
				.split('\n')
				.map((line) => line.split('=') as [string, string]),
		);
		const problems = (more: Record<string, string>) => readSettings({ ...env, ...more }, /^/, []).problems;
		expect(problems({ ADMIN_CONTACT: 'Ada\nALLOWED_USERS=U0ADA\nNOTE=' })).toEqual([
			expect.stringMatching(/^ALLOWED_USERS stands in the value of another setting/),
		]);
		expect(
			problems({ ADMIN_CONTACT: 'Ada, for\nALLOWED_USERS', 'BASH_FUNC_x%%': '() {\nDATA_DIR=x npm start\n}' }),
		).toEqual([]);
	});
});

describe('a whole .env', () => {
	it('in another encoding is one problem with true words, without those of what it would have set', () => {
		const text = `${CONNECTIONS}${LIST}\n`;
		const found = readAll([
			utf16(`\uFEFF${text}`),
			utf16(text),
			utf16(`\uFEFF${text}`).swap16(),
			utf32(text),
			`${text}# \0`,
			`DATA_DIR=/srv\0x\n${text}`,
			`\uFEFF${text}`,
			`\uFEFF\uFEFFexport ${text}`,
			`\uFEFF# a comment\n${text}`,
		]);
		const is = (index: number) => `${index}.env is UTF-16, or has NUL bytes, so it is not read: save it as UTF-8`;
		const marked = (index: number) =>
			`${index}.env begins with a byte-order mark, so its first line is not read: save it as UTF-8 without BOM`;
		const lines = [...[0, 1, 2, 3, 4, 5].map(is), marked(6), marked(7)];
		expect(found.map(({ problems }) => problems)).toEqual([...lines.map((line) => [line]), []]);
	});

	it('that may not be read stops the start', WITH_NOBODY, () => {
		writeFileSync(PATH, LIST, { mode: 0o600 });
		chownSync(PATH, NOBODY, NOBODY);
		const main = new URL('../src/main.ts', import.meta.url).pathname;
		const env = ['/usr/bin/env', ...CONNECTIONS.trim().split('\n')];
		const [by, ...args] = [...AS_PLAIN_ROOT, ...env, process.execPath, '--env-file-if-exists=.env', main];
		const { stderr } = spawnSync(by, args, { cwd: folder, encoding: 'utf8', env: { PATH: process.env.PATH ?? '' } });
		expect(stderr).toContain('.env cannot be read (EACCES), nor its settings: check who may read it');
		rmSync(PATH);
	});
});

/** With these a start is refused, and nobody knows which folder is meant: one of each way to refuse. */
const WRONG_PLACES: readonly (readonly [string, string | Buffer, string])[] = [
	['a byte-order mark', '\uFEFFDATA_DIR=real\n', '.env begins with a byte-order mark'],
	['an open quotation mark', 'NOTE="x\nDATA_DIR=real\nOTHER="y"\n', 'DATA_DIR stands in the value of another setting'],
	['the home folder', 'DATA_DIR=~/real\n', 'DATA_DIR begins with ~'],
];

describe('with a .env that a start refuses, commands', () => {
	it.each(WRONG_PLACES)('restore nothing, say its line, and touch nothing: %s', (_, content, words) => {
		const { status, lines } = run(content, ['backup.ts', '--restore', 'copy.db'], 'yes\n');
		expect([status, lines]).toEqual([1, [expect.stringContaining(words)]]);
		for (const name of ['data', 'real', 'handraise.db', 'handraise.lock'])
			expect(existsSync(join(folder, name))).toBe(false);
	});

	// Of main.ts and of doctor.ts alone: main.test.ts.
	it('do nothing else either, and say the same', () => {
		const content = utf16(`\uFEFF${CONNECTIONS}`);
		const words = '.env is UTF-16, or has NUL bytes, so it is not read: save it as UTF-8';
		for (const args of [
			['migrate.ts'],
			['backup.ts', 'copy.db'],
			['person.ts', 'forget', 'U0ADA', '--yes', 'U0ADA'],
			['doctor.ts', 'may', 'U0ADA', 'C0AGENTS'],
			['doctor.ts', 'live', 'C0AGENTS'],
		]) {
			const { status, lines } = run(content, args);
			expect([status, lines]).toEqual([1, expect.arrayContaining([expect.stringContaining(words)])]);
			expect(lines.join()).not.toContain('missing');
		}
	});

	it('do not ask Slack without the proxy that is meant', async () => {
		const env = { SLACK_BOT_TOKEN: 'xoxb-1', HTTPS_PROXY: 'socks5://x' };
		const { code, stdout } = await runHere(doctor, ['may', 'U0ADA', 'C0AGENTS'], env);
		expect([code, stdout]).toEqual([1, expect.stringContaining('HTTPS_PROXY is not the address of a proxy')]);
	});
});

describe('a secret in a file that is no text', () => {
	const SECRET = 'c2VjcmV0IHNlY3JldCBzZWNyZXQgc2VjcmV0IHNlY3I=';
	const fileOf = (content: Buffer) => {
		const path = join(folder, 'secret');
		writeFileSync(path, content);
		return path;
	};

	it.each([
		['UTF-16', utf16(`\uFEFF${SECRET}\r\n`)],
		['UTF-16 without a mark', utf16(`${SECRET}\n`)],
		['UTF-16 of big machines', utf16(`\uFEFF${SECRET}\n`).swap16()],
	])('is refused in %s, but for a former key that was used so', (_, content) => {
		const path = fileOf(content);
		for (const name of ['ENCRYPTION_KEY', 'SLACK_SIGNING_SECRET', 'SLACK_BOT_TOKEN']) {
			const { problems, settings } = readSettings({ [`${name}_FILE`]: path }, /^/, []);
			const words = `${name}_FILE names a file in UTF-16, or with NUL bytes: save it as UTF-8`;
			expect(problems).toContainEqual(expect.stringContaining(words));
			expect(Object.keys(settings)).not.toContain(name);
		}
		const { settings } = readSettings({ ENCRYPTION_KEY: SECRET, ENCRYPTION_KEY_FORMER_FILE: path }, /^/, []);
		expect(readKeys(SECRET, settings.ENCRYPTION_KEY_FORMER).formers).toEqual([content.toString('utf8').trim()]);
	});
});
