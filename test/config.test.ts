import { describe, expect, it } from 'vitest';
import { parseConfig, readSettings } from '../src/config.ts';
import { HandraiseError } from '../src/kernel/errors.ts';
import { removedSettings } from '../src/limits.ts';

const COMPLETE = {
	SLACK_BOT_TOKEN: 'xoxb-1',
	SLACK_APP_TOKEN: 'xapp-1',
	SESSION_SERVICE_URL: 'https://service.example',
	SESSION_SERVICE_API_KEY: 'key-1',
};

type Wrong = readonly [what: string, value: string | undefined, words: RegExp];
const OF_VARIABLE = / has a variable, which only a shell replaces: write the whole path$/;
const OF_SHELL = / begins as a path or variable that only a shell replaces: .*put it into ENCRYPTION_KEY_FORMER$/;
const OF_COMMAND = / is not \/ and up to 31 small letters, digits, - and _: use one such as \/travel$/;
const OF_NAME = / is not up to 35 letters, digits, spaces, -, _ and \., a letter or digit first$/;
const UNKNOWN = 'has a parameter that Handraise does not know';
const OF_SSLMODE = /has an sslmode that cannot be kept .*: use verify-full, verify-ca, require or disable$/;

function problems(env: Record<string, string | undefined>): readonly string[] {
	try {
		parseConfig(env);
		return [];
	} catch (error) {
		if (error instanceof HandraiseError && error.code === 'config_invalid') return error.message.split('\n');
		throw error;
	}
}

describe('the settings', () => {
	it('has defaults for all settings but the four required ones', () => {
		expect(parseConfig(COMPLETE)).toEqual({
			transport: { kind: 'socket', appToken: 'xapp-1' },
			proxy: null,
			watchLimits: { person: 50, channel: 100, all: 1_000 },
			pool: { size: 10, statementMs: 2_000 },
			personReads: { burst: 20, perMinute: 20 },
			secretFiles: {},
			...COMPLETE,
			SLACK_SIGNING_SECRET: null,
			SLASH_COMMAND: '/session',
			APP_NAME: 'Handraise',
			SLACK_API_URL: 'https://slack.com/api/',
			SESSION_SERVICE_RPM: 250,
			SESSION_SERVICE_TIMEOUT_MS: 20_000,
			SESSION_DASHBOARD_URL: null,
			DATABASE_URL: null,
			HTTPS_PROXY: null,
			HTTP_PROXY: null,
			NO_PROXY: '',
			DATA_DIR: './data',
			ENCRYPTION_KEY: null,
			ENCRYPTION_KEY_FORMER: null,
			HOST: null,
			ALLOW_GUESTS: false,
			ALLOW_EXTERNAL: false,
			ALLOWED_CHANNELS: [],
			ALLOWED_USERS: [],
			ALLOWED_USERGROUPS: [],
			ADMIN_CONTACT: null,
			MAX_WATCHES: 1_000,
			DISCOVER_SESSIONS: false,
			QUICK_ANSWERS: true,
			UNDO_SECONDS: 10,
			REMIND_AFTER: 900_000,
			SHOW_ANSWERS: 'auto',
			RETENTION_DAYS: 90,
			HISTORY_RETENTION_DAYS: null,
			AUDIT_RETENTION_DAYS: 400,
			PORT: 3000,
			LOG_LEVEL: 'info',
		});
	});

	it('chooses signed HTTP when there is a signing secret and no app-level token', () => {
		const { SLACK_APP_TOKEN: _, ...withoutAppToken } = COMPLETE;
		expect(parseConfig({ ...withoutAppToken, SLACK_SIGNING_SECRET: 's' }).transport).toEqual({
			kind: 'http',
			signingSecret: 's',
		});
		expect(parseConfig({ ...COMPLETE, SLACK_SIGNING_SECRET: 's' }).transport.kind).toBe('socket');
	});

	it('treats blank settings as unset, trims them and removes trailing slashes', () => {
		const config = parseConfig({
			...COMPLETE,
			SESSION_SERVICE_URL: ' https://service.example/base/ ',
			SESSION_DASHBOARD_URL: 'https://dashboard.example/',
			ADMIN_CONTACT: '  ',
			SLACK_API_URL: 'http://127.0.0.1:1/api',
			RETENTION_DAYS: ' ',
		});
		expect(config.SESSION_SERVICE_URL).toBe('https://service.example/base');
		expect(config.SESSION_DASHBOARD_URL).toBe('https://dashboard.example');
		expect(config.ADMIN_CONTACT).toBeNull();
		expect(config.SLACK_API_URL).toBe('http://127.0.0.1:1/api/');
		expect(config.RETENTION_DAYS).toBe(90);
	});

	it.each([
		['HTTPS://Sessions.Example:443/Base//', 'https://sessions.example/Base'],
		['http://Localhost:80', 'http://localhost'],
		['http://[::1]:4000/', 'http://[::1]:4000'],
		['https://sessions.example:8443', 'https://sessions.example:8443'],
	])('reads an address in one spelling, however it is written: %s', (written, read) => {
		const config = parseConfig({ ...COMPLETE, SESSION_SERVICE_URL: written, SESSION_DASHBOARD_URL: written });
		expect([config.SESSION_SERVICE_URL, config.SESSION_DASHBOARD_URL]).toEqual([read, read]);
	});

	it('reads times with a unit, and off', () => {
		const time = (remind: string) => parseConfig({ ...COMPLETE, REMIND_AFTER: remind }).REMIND_AFTER;
		expect(['90s', '15m', '2h', '1d', 'off'].map(time)).toEqual([90_000, 900_000, 7_200_000, 86_400_000, null]);
	});

	it('reads the proxies as undici does: lower case first, also when it is empty', () => {
		const proxyOf = (env: Record<string, string>) => parseConfig({ ...COMPLETE, ...env }).proxy;
		expect(proxyOf({ HTTPS_PROXY: 'http://ada:p%40ss@one:3128', NO_PROXY: '.corp.example, ten.example:8443' })).toEqual(
			{
				httpsProxy: 'http://ada:p%40ss@one:3128',
				httpProxy: '',
				noProxy: '.corp.example, ten.example:8443',
				hosts: 'one:3128',
			},
		);
		expect(proxyOf({ http_proxy: 'http://two', HTTP_PROXY: 'http://one', no_proxy: 'a', NO_PROXY: 'b' })).toEqual({
			httpsProxy: '',
			httpProxy: 'http://two',
			noProxy: 'a',
			hosts: 'two',
		});
		expect(proxyOf({ https_proxy: '', HTTPS_PROXY: 'http://one' })).toBeNull();
		expect(proxyOf({ NO_PROXY: 'a' })).toBeNull();
	});

	it('reads lists with commas and spaces', () => {
		const config = parseConfig({
			...COMPLETE,
			ALLOWED_CHANNELS: 'C0ABC, G0DEF D0GHI',
			ALLOWED_USERS: 'U0ABC,\nW0DEF',
			ALLOWED_USERGROUPS: 'S0ABC',
			ALLOW_GUESTS: 'yes',
			ALLOW_EXTERNAL: '0',
		});
		expect(config).toMatchObject({
			ALLOWED_CHANNELS: ['C0ABC', 'G0DEF', 'D0GHI'],
			ALLOWED_USERS: ['U0ABC', 'W0DEF'],
			ALLOWED_USERGROUPS: ['S0ABC'],
			ALLOW_GUESTS: true,
			ALLOW_EXTERNAL: false,
		});
	});

	/** By the setting that the line names first: what is wrong, its value, and how the line goes on. */
	const WRONG: Readonly<Record<string, readonly Wrong[]>> = {
		SLACK_BOT_TOKEN: [
			['none', undefined, / is missing: .*xoxb-/],
			['a blank one', ' ', / is missing/],
			['an app token', 'xapp-1', / is another kind of token/],
			['a user token', 'xoxp-1', / is another kind of token/],
		],
		SLACK_APP_TOKEN: [
			['a bot token', 'xoxb-1', / is another kind of token/],
			['none, and no signing secret', undefined, / is missing: .*SLACK_SIGNING_SECRET/],
		],
		SLACK_SIGNING_SECRET: [['an end of quotation', "secret'", / begins or ends/]],
		REMIND_AFTER: [
			['a time without a unit', '15', / is not a time from 1s to 30d: .*15m/],
			['no time at all', '0m', / is not a time/],
			['too long a time', '31d', / is not a time/],
		],
		SESSION_SERVICE_URL: [
			['none', undefined, / is missing/],
			['no scheme', 'service.example', / is not a valid address/],
			['an end of /v1', 'https://s.example/v1/', / ends in \/v1/],
			['a user and a password', 'https://a:secret@s.example', / contains a user name/],
			['a password alone', 'http://:pw@s.example', / contains a user name or password/],
			['a query', 'https://s.example/?a=1', / is not a valid address/],
		],
		SESSION_DASHBOARD_URL: [['a script', 'javascript:alert(1)', / is not a valid/]],
		ALLOWED_CHANNEL: [
			['a misspelt rule', 'C0ABC', / is no setting and would not limit who may answer: .*ALLOWED_CHANNELS/],
		],
		allowed_users: [['a rule in lower case', 'U0ABC', / is no setting and would not limit/]],
		HTTPS_PROXY: [['no scheme', 'secret.example:3128', / is not the address of a proxy/]],
		HTTP_PROXY: [['another kind', 'socks5://secret.example', / is not the address of a proxy/]],
		SESSION_SERVICE_API_KEY: [
			['none', undefined, / is missing/],
			['a line end', 'secret\nkey', / contains characters/],
			['quotation marks', '"secret"', / stands in quotation/],
		],
		SESSION_SERVICE_RPM: [['nothing', '0', / is less than 10/]],
		SESSION_SERVICE_TIMEOUT_MS: [['a word', 'soon', / is not a number/]],
		MAX_WATCHES: [['none', '0', / is less than 1/]],
		RETENTION_DAYS: [['half a day', '0.5', / is not a whole number/]],
		HISTORY_RETENTION_DAYS: [['less than the texts', '89', / is less than RETENTION_DAYS \(90\)/]],
		ALLOWED_CHANNELS: [['a name', '#agents', / contains something that is not a Slack ID/]],
		ALLOWED_USERS: [['a name', 'U0ADA, @secret', / contains something that is not a Slack ID/]],
		ALLOWED_USERGROUPS: [['a name', 'ops', / contains something/]],
		ALLOW_GUESTS: [['a flag of another kind', 'perhaps', / is neither true nor false/]],
		SHOW_ANSWERS: [['now and then', 'sometimes', / is not one of auto, always, never/]],
		DATA_DIR: [
			['quotation marks', "'./secret'", / stands in quotation marks/],
			['an open quotation mark', '"./secret', / begins or ends with a quotation mark/],
			['curly quotation marks', '“secret”', / begins or ends with a quotation mark/],
			['the home folder', '~/secret', / begins with ~, which only a shell replaces/],
			...['$HOME/secret', '/srv/$secret', '%USERPROFILE%\\secret'].map((path) => [path, path, OF_VARIABLE] as const),
		],
		ENCRYPTION_KEY: [
			['quotation marks', '"secret"', / stands in quotation marks.*: remove them\. .*ENCRYPTION_KEY_FORMER$/],
			[
				'curly ones',
				'„secret passphrase“',
				/ begins or ends with a quotation mark.*: remove it\. .*ENCRYPTION_KEY_FORMER$/,
			],
			...['~/secret.key', '$(cat secret)', `$${'{SECRET}'}`, '$SECRET', '$HOME/secret'].map(
				(key) => [`what a shell would replace, ${key}`, key, OF_SHELL] as const,
			),
		],
		PORT: [['one beyond ports', '70000', / is more than 65535/]],
		LOG_LEVEL: [['one that nobody knows', 'loud', / is not one of trace, debug/]],
		SLASH_COMMAND: [
			...['travel', '/', '/Travel', '/secret place', '/sécret', `/${'a'.repeat(32)}`].map(
				(command) => [command, command, OF_COMMAND] as const,
			),
			...['/remind', '/invite', '/status'].map(
				(command) => [`Slack's own ${command}`, command, / is a command of Slack itself: use another word$/] as const,
			),
		],
		APP_NAME: ['A'.repeat(36), '-secret', '*secret*', '<secret>', 'secret: a'].map((name) => [name, name, OF_NAME]),
	};

	/** One problem in one line, without the value. */
	function expectProblem(env: Record<string, string | undefined>, words: RegExp): void {
		const found = problems({ ...COMPLETE, ...env });
		expect(found).toEqual([expect.stringMatching(words)]);
		expect(found.join()).not.toContain('secret');
		expect(found.join()).not.toContain('\n');
	}

	describe.each(Object.entries(WRONG))('report in one line, without the value, as %s', (setting, rows) => {
		it.each(rows)('%s', (_, value, words) =>
			expectProblem({ [setting]: value }, new RegExp(`^${setting}${words.source}`)),
		);
	});

	it.each([
		[
			'an sslmode elsewhere',
			{ DATABASE_URL: 'postgres://h/d', ENCRYPTION_KEY: 'k', PGSSLMODE: 'require' },
			/^PGSSLMODE is not read/,
		],
		['its lower case', { https_proxy: 'http://secret:x%@h', HTTPS_PROXY: 'http://h' }, /^HTTPS_PROXY is not the/],
		[
			'a former key without a new one',
			{ ENCRYPTION_KEY_FORMER: 'a secret passphrase' },
			/^ENCRYPTION_KEY is missing: with ENCRYPTION_KEY_FORMER it is the new key; create one/,
		],
		[
			'a database without a key',
			{ DATABASE_URL: 'postgres://a:secret@h/d' },
			/^ENCRYPTION_KEY is missing: .*openssl rand/,
		],
	])('report in one line, without the value: %s', (_, env, words) => expectProblem(env, words));

	it.each([
		['another kind of database', 'mysql://a:secret@h/d', /is not a PostgreSQL address/],
		['several hosts', 'postgres://a:secret@one,two/d', /is not a PostgreSQL address with one host/],
		['a misspelt sslmode', 'postgres://a:secret@h/d?sslmod=require', new RegExp(`${UNKNOWN}: it takes sslmode, `)],
		[
			'a parameter of libpq that Handraise does not take',
			'postgres://a:secret@h/d?sslmode=require&target_session_attrs=any',
			new RegExp(`${UNKNOWN} \\(target_session_attrs\\): it takes sslmode, `),
		],
		['a part of a password', 'postgres://h/d?user=a&password=p&q4711=x', new RegExp(`${UNKNOWN}: it takes `)],
		[
			'a channel binding that does not exist',
			'postgres://a:secret@h/d?sslmode=require&channel_binding=yes',
			/has a channel_binding other than require, prefer, disable$/,
		],
		['what would replace a time-out', 'postgres://h/d?query_timeout=0', new RegExp(UNKNOWN)],
		...['prefer', 'allow', 'verify', ''].map(
			(mode) => [`sslmode=${mode}`, `postgres://a:secret@h/d?sslmode=${mode}`, OF_SSLMODE] as const,
		),
		[
			'an authority alone',
			'postgres://h/d?sslrootcert=/secret.pem',
			/has sslrootcert and no sslmode: add sslmode=verify-full$/,
		],
		[
			'verify-ca without an authority',
			'postgres://h/d?sslmode=verify-ca',
			/has sslmode=verify-ca and no sslrootcert: add the file/,
		],
		[
			'any server of a public authority',
			'postgres://h/d?sslmode=require&sslrootcert=system',
			/has sslrootcert=system, which proves a server only with sslmode=verify-full$/,
		],
		[
			'an authority in a file that is not there',
			'postgres://h/d?sslmode=verify-full&sslrootcert=/nonexistent/secret.pem',
			/cannot be used: the file that sslrootcert names cannot be read \(ENOENT\)$/,
		],
	] as const)('report in one line, without the value, as DATABASE_URL: %s', (_, address, words) =>
		expectProblem({ DATABASE_URL: address, ENCRYPTION_KEY: 'k' }, new RegExp(`^DATABASE_URL ${words.source}`)),
	);

	it("takes names that Slack takes, without space around them, and warns of the command's misspelt setting", () => {
		const longest = { SLASH_COMMAND: `/${'a_-9'.repeat(8).slice(1)}`, APP_NAME: 'A'.repeat(35) };
		expect(parseConfig({ ...COMPLETE, ...longest })).toMatchObject(longest);
		const spaced = { SLASH_COMMAND: ' /travel ', APP_NAME: ' Handraise Travel 2.0 ' };
		const trimmed = { SLASH_COMMAND: '/travel', APP_NAME: 'Handraise Travel 2.0' };
		expect(parseConfig({ ...COMPLETE, ...spaced })).toMatchObject(trimmed);
		expect(readSettings({ ...COMPLETE, SLASH_COMMANDS: '/travel' }).unknown).toEqual(['SLASH_COMMANDS']);
	});

	it.each([
		['the same number', 'GONE_DAYS', '7', false],
		['a larger number', 'GONE_DAYS', '30', false],
		['a smaller number, which was stricter', 'GONE_DAYS', '3', true],
		['no number, which was stricter', 'GONE_DAYS', 'secret', true],
		['the word that means the same', 'GONE_LIST', 'auto', false],
		['another word, which was stricter', 'GONE_LIST', 'off', true],
		['any value, where none was stricter', 'GONE_LOG', 'off', false],
	] as const)('finds a removed setting with %s', (_, setting, value, isStricter) => {
		const removed = {
			GONE_DAYS: ['it is 7 days', 7],
			GONE_LIST: ['it is used', 'auto'],
			GONE_LOG: ['it is on', null],
		} as const;
		const [instead] = removed[setting];
		expect(removedSettings({ ...COMPLETE, [setting]: value }, removed)).toEqual([{ setting, instead, isStricter }]);
		expect(removedSettings({ ...COMPLETE, [setting]: ' ' }, removed)).toEqual([]);
	});

	it('says in one line what takes the place of THREAD_REPLIES, on or off', () => {
		for (const value of ['on', 'off'])
			expect(readSettings({ ...COMPLETE, THREAD_REPLIES: value })).toMatchObject({
				removed: [{ setting: 'THREAD_REPLIES', instead: expect.stringContaining('mentions Handraise in the thread') }],
				unknown: [],
				problems: [],
			});
	});

	it('takes passphrases and folders with such signs in them', () => {
		const signs = { ENCRYPTION_KEY: '$Tr0ng "words" it\'s $x', DATA_DIR: "/srv/O'Brien's 100%/a$" };
		expect(problems({ ...COMPLETE, ...signs })).toEqual([]);
	});

	it('takes a former key in the quotation marks with which it was used, and a contact in its own', () => {
		const former = { ENCRYPTION_KEY: 'k', ENCRYPTION_KEY_FORMER: '"k"', ADMIN_CONTACT: '"Ops" <ops@example.com>' };
		expect(problems({ ...COMPLETE, ...former })).toEqual([]);
	});

	it('reports all problems at once', () => {
		expect(problems({}).map((line) => line.split(' ')[0])).toEqual([
			'SLACK_BOT_TOKEN',
			'SESSION_SERVICE_URL',
			'SESSION_SERVICE_API_KEY',
			'SLACK_APP_TOKEN',
		]);
	});
});
