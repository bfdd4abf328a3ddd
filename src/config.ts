import { existsSync, readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { z } from 'zod';
import { SHOW_ANSWERS } from './domain/disclosure.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from './kernel/clock.ts';
import { APP_NAME, COMMAND, COMMANDS_OF_SLACK } from './kernel/command-name.ts';
import { HandraiseError } from './kernel/errors.ts';
import type { Log } from './kernel/log.ts';
import { normalAddress } from './kernel/values.ts';
import { LIMITS, removedSettings } from './limits.ts';
import { type Environment, readSecret, SECRETS, secretFilesOf, withSecretFiles } from './secret-files.ts';
import { DatabaseUrlError, readDatabaseUrl } from './store/postgres-address.ts';
import { LONGEST_UNDO_MS } from './store/schema/answers.ts';

const required = (hint: string) => z.string({ error: `is missing: ${hint}` }).trim();
const text = z.string().trim();
const optional = text.nullable().default(null);
const optionally = (isValid: (value: string) => boolean, problem: string) =>
	text.refine(isValid, problem).nullable().default(null);

const HTTP = ['http:', 'https:'];
const webAddress = (type: z.ZodType<string>) =>
	type
		.refine((value) => {
			const url = URL.parse(value);
			return url !== null && HTTP.includes(url.protocol) && url.search === '' && url.hash === '';
		}, 'is not a valid address: use one that starts with https:// (or http://) and has no ? or #')
		.transform(normalAddress);

/** undici decodes user and password, and throws if they are not percent-encoded. */
function isProxyAddress(value: string): boolean {
	try {
		const { protocol, username, password } = new URL(value);
		decodeURIComponent(username + password);
		return HTTP.includes(protocol);
	} catch {
		return false;
	}
}
const proxyAddress = optionally(
	isProxyAddress,
	'is not the address of a proxy: use one like http://proxy.example:3128, with user and password percent-encoded',
);

const databaseUrl = text
	.superRefine((value, context) => {
		try {
			readDatabaseUrl(value);
		} catch (error) {
			if (!(error instanceof DatabaseUrlError)) throw error;
			context.addIssue(error.message);
		}
	})
	.nullable()
	.default(null);

const flag = z
	.enum(['true', 'false', '1', '0', 'yes', 'no'], { error: 'is neither true nor false' })
	.transform((value) => ['true', '1', 'yes'].includes(value))
	.default(false);
function oneOf<const Words extends readonly [string, string, ...string[]]>(words: Words, fallback: Words[number]) {
	const error = words.length === 2 ? `is neither ${words.join(' nor ')}` : `is not one of ${words.join(', ')}`;
	return z.enum(words, { error }).default(fallback);
}
const wholeNumber = (fallback: number, min: number, max: number) =>
	z.coerce
		.number({ error: `is not a number: use a whole number from ${min} to ${max}` })
		.int(`is not a whole number from ${min} to ${max}`)
		.min(min, `is less than ${min}`)
		.max(max, `is more than ${max}`)
		.default(fallback);
const UNITS = { s: 1_000, m: MINUTE_MS, h: HOUR_MS, d: DAY_MS } as const;
/** Milliseconds of `90s`, `15m`, `2h` or `1d`; null for `off`. */
const duration = text.transform((value, context) => {
	if (value === 'off') return null;
	const [, count = '', unit = ''] = /^(\d{1,9})([smhd])$/.exec(value) ?? [];
	const ms = Number(count) * (UNITS[unit as keyof typeof UNITS] ?? 0);
	if (ms > 0 && ms <= 30 * UNITS.d) return ms;
	context.addIssue('is not a time from 1s to 30d: use one such as 90s, 15m or 2h, or off');
	return z.NEVER;
});
const ids = (pattern: RegExp, example: string) =>
	text
		.default('')
		.transform((value) => value.split(/[\s,]+/).filter((id) => id !== ''))
		.refine((list) => list.every((id) => pattern.test(id)), {
			error: `contains something that is not a Slack ID: use IDs such as ${example}, separated by commas`,
		});

const environment = z.object({
	SLACK_BOT_TOKEN: required('the bot token (xoxb-…) from "OAuth & Permissions" of your Slack app').refine(
		(value) => !/^(xapp-|xoxp-|xoxe)|-$/.test(value),
		'is another kind of token, or incomplete: use the bot token, which starts with xoxb-',
	),
	SLACK_APP_TOKEN: optionally(
		(value) => !/^xox|-$/.test(value),
		'is another kind of token, or incomplete: use an app-level token with connections:write, which starts with xapp-',
	),
	SLACK_SIGNING_SECRET: optional,
	SLASH_COMMAND: text
		.regex(/^\/[a-z\d_-]{1,31}$/, 'is not / and up to 31 small letters, digits, - and _: use one such as /travel')
		.refine((command) => !COMMANDS_OF_SLACK.includes(command), 'is a command of Slack itself: use another word')
		.default(COMMAND),
	APP_NAME: text
		.regex(/^[a-z\d][\w .-]{0,34}$/i, 'is not up to 35 letters, digits, spaces, -, _ and ., a letter or digit first')
		.default(APP_NAME),
	SLACK_API_URL: webAddress(text)
		.transform((url) => `${url}/`)
		.default('https://slack.com/api/'),
	SESSION_SERVICE_URL: webAddress(required('the base address of the session service, without /v1'))
		.refine((value) => !value.endsWith('/v1'), 'ends in /v1: remove it, Handraise adds it')
		.refine((value) => {
			const { username, password } = URL.parse(value) ?? {};
			return !username && !password;
		}, 'contains a user name or password: put the key into SESSION_SERVICE_API_KEY'),
	SESSION_SERVICE_API_KEY: required("the key from the API section of the service's dashboard").refine(
		(value) => /^[\x21-\x7e]+$/.test(value),
		'contains characters that are not allowed in an HTTP header: copy it again',
	),
	SESSION_SERVICE_RPM: wholeNumber(250, 10, 100_000),
	SESSION_SERVICE_TIMEOUT_MS: wholeNumber(20_000, 100, 120_000),
	SESSION_DASHBOARD_URL: webAddress(text).nullable().default(null),
	DATABASE_URL: databaseUrl,
	HTTPS_PROXY: proxyAddress,
	HTTP_PROXY: proxyAddress,
	NO_PROXY: text.default(''),
	DATA_DIR: text
		.refine((path) => !path.startsWith('~'), 'begins with ~, which only a shell replaces: write the whole path')
		.refine((path) => !/\$[\w{(]|%\w+%/.test(path), 'has a variable, which only a shell replaces: write the whole path')
		.default('./data'),
	ENCRYPTION_KEY: optionally(
		(key) => !/^~\/|^\$[({]|^\$[A-Z_]+(\/|$)/.test(key),
		'begins as a path or variable that only a shell replaces: ENCRYPTION_KEY_FILE names a file. If Handraise has ' +
			'run with it, put it into ENCRYPTION_KEY_FORMER',
	),
	ENCRYPTION_KEY_FORMER: optional,
	ALLOW_GUESTS: flag,
	ALLOW_EXTERNAL: flag,
	ALLOWED_CHANNELS: ids(/^[CGD][A-Z0-9]{2,}$/, 'C0123ABCD'),
	ALLOWED_USERS: ids(/^[UW][A-Z0-9]{2,}$/, 'U0123ABCD'),
	ALLOWED_USERGROUPS: ids(/^S[A-Z0-9]{2,}$/, 'S0123ABCD'),
	ADMIN_CONTACT: optional,
	MAX_WATCHES: wholeNumber(1_000, 1, 100_000),
	DISCOVER_SESSIONS: flag,
	QUICK_ANSWERS: oneOf(['on', 'off'], 'on').transform((word) => word === 'on'),
	UNDO_SECONDS: wholeNumber(10, 0, LONGEST_UNDO_MS / UNITS.s),
	REMIND_AFTER: duration.default(15 * UNITS.m),
	SHOW_ANSWERS: oneOf(SHOW_ANSWERS, 'auto'),
	RETENTION_DAYS: wholeNumber(90, 1, 3650),
	HISTORY_RETENTION_DAYS: wholeNumber(1, 1, 3650).nullable().default(null),
	AUDIT_RETENTION_DAYS: wholeNumber(400, 1, 3650),
	HOST: optionally(
		(value) => !/[\s/]/.test(value),
		'is neither an address nor the name of a host: use one like 127.0.0.1',
	),
	PORT: wholeNumber(3000, 0, 65_535),
	LOG_LEVEL: oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], 'info'),
});

const textOf = (env: Environment, name: string) => (env[name]?.trim() === '' ? undefined : env[name]);

/** Problems of settings that do not fit together. They are read from the raw environment, beside invalid values. */
function crossProblems(env: Environment, settings: Partial<Settings>): string[] {
	const { RETENTION_DAYS = 0, HISTORY_RETENTION_DAYS } = settings;
	const isUnset = (name: string) => textOf(env, name) === undefined && textOf(env, `${name}_FILE`) === undefined;
	const problems = {
		'SLACK_APP_TOKEN is missing: set an app-level token (xapp-…) for Socket Mode, or SLACK_SIGNING_SECRET for HTTP':
			isUnset('SLACK_APP_TOKEN') && isUnset('SLACK_SIGNING_SECRET'),
		['ENCRYPTION_KEY is missing: with DATABASE_URL all replicas need the same key; for the first start make one ' +
			'with: openssl rand -base64 32']: !isUnset('DATABASE_URL') && isUnset('ENCRYPTION_KEY'),
		'PGSSLMODE is not read: put sslmode into DATABASE_URL, and remove it':
			!isUnset('DATABASE_URL') && !isUnset('PGSSLMODE'),
		'ENCRYPTION_KEY is missing: with ENCRYPTION_KEY_FORMER it is the new key; create one with: openssl rand -base64 32':
			!isUnset('ENCRYPTION_KEY_FORMER') && isUnset('ENCRYPTION_KEY'),
		[`HISTORY_RETENTION_DAYS is less than RETENTION_DAYS (${RETENTION_DAYS}): texts would outlive authors`]:
			HISTORY_RETENTION_DAYS != null && HISTORY_RETENTION_DAYS < RETENTION_DAYS,
	};
	return Object.entries(problems).flatMap(([words, is]) => (is ? words : []));
}

export type Settings = z.output<typeof environment>;

export type SettingsReading = ReturnType<typeof readSettings>;

/**
 * Parses each setting by itself, so that valid ones can be used. `needed`: which problems are returned, by their
 * beginning. `paths`: the `.env` files that Node.js has read.
 */
export function readSettings(given: Environment, needed = /^/, paths = environmentFiles()) {
	const settings: Record<string, unknown> = {};
	const { env, problems: fileProblems } = withSecretFiles(given);
	const problems: string[] = [];
	const files = secretFilesOf(given);
	const unreadable = paths.flatMap(unreadableFile);
	// If a file was not read, nothing is known of its settings, so none is checked.
	const types = unreadable.length > 0 ? [] : Object.entries(environment.shape);
	for (const [name, type] of types) {
		// The problem of the secret's file is reported already.
		if (fileProblems.some((problem) => problem.startsWith(`${name}_FILE `))) continue;
		// As in undici and curl, proxies may also be named in lower case, which has precedence.
		const lowerCase = name.toLowerCase();
		const text = textOf(env, name.endsWith('_PROXY') && lowerCase in env ? lowerCase : name);
		const parsed = type.safeParse(text);
		const what = name in files ? `${name}_FILE names a file whose content` : name;
		const quotes = quotesProblem(name, text?.trim() ?? '');
		if (quotes !== null) problems.push(`${what} ${quotes}`);
		else if (parsed.success) settings[name] = parsed.data;
		else problems.push(...parsed.error.issues.map((issue) => `${what} ${issue.message}`));
	}
	const removed = removedSettings(env);
	const stricter = removed.flatMap(({ setting, instead, isStricter }) =>
		isStricter
			? `${setting} is no setting any more, and its value is stricter than what holds now: ${instead}. Remove it to ` +
				'accept that'
			: [],
	);
	const swallowed = unreadable.length > 0 ? [] : swallowedSettings(given, paths);
	const ofEach = [...swallowed, ...fileProblems, ...problems, ...crossProblems(given, settings)];
	const all = [...ofEach, ...misspeltAccess(env), ...stricter];
	return {
		/** The valid settings. An optional one that is not set is null. */
		settings: settings as Partial<Settings>,
		/** One line for each missing or invalid setting, without its value; or one for each file that was not read. */
		problems: unreadable.length > 0 ? unreadable : all.filter((line) => needed.test(line)),
		/** Names that look like settings of Handraise and are none. Those about access are in `problems`. */
		unknown: Object.keys(env).filter(
			(name) => OUR_NAMES.test(name) && !isSetting(name) && !removed.some(({ setting }) => setting === name),
		),
		/** Removed settings that are set, and what holds now. Those that were stricter are in `problems`. */
		removed: removed.flatMap(({ isStricter, ...one }) => (isStricter ? [] : one)),
	};
}

/** The settings. @throws HandraiseError `config_invalid`, with a line for each problem that matches `needed` */
export function needSettings(env: Environment, needed: RegExp): Settings {
	const { settings, problems } = readSettings(env, needed);
	if (problems.length > 0) throw new HandraiseError(problems.join('\n'), { code: 'config_invalid' });
	return settings as Settings;
}

// biome-ignore format: a list of words
const OUR_BEGINNINGS = [
	'SLACK', 'SLASH', 'DATABASE', 'ENCRYPTION', 'DISCOVER', 'SESSION_SERVICE', 'SESSION_DASHBOARD', 'MAX_WATCH', 'SHOW',
	'QUICK', 'UNDO', 'THREAD', 'REMIND', 'RETENTION', 'HISTORY', 'AUDIT',
];
const OUR_NAMES = new RegExp(`^(${OUR_BEGINNINGS.join('|')})_`);

const isSetting = (name: string) =>
	Object.hasOwn(environment.shape, name) || SECRETS.some((secret) => name === `${secret}_FILE`);
const isAboutAccess = (name: string) => /^ALLOW/i.test(name);

/** Docker keeps quotation marks. They would become part of a key or of a folder's name. */
const IN_QUOTES = /^(["'`]).*\1$/s;
const QUOTE_AT_END = /^["'`\u2018-\u201F«»]|["'`\u2018-\u201F«»]$/;
/** Here quotation marks may be meant. With a former key, Handraise has already run. */
const QUOTED: readonly string[] = ['ADMIN_CONTACT', 'ENCRYPTION_KEY_FORMER'];

function quotesProblem(name: string, value: string): string | null {
	if (QUOTED.includes(name) || !QUOTE_AT_END.test(value)) return null;
	const words = IN_QUOTES.test(value)
		? 'stands in quotation marks, which are a part of it here: remove them'
		: 'begins or ends with a quotation mark, which is a part of it here: remove it';
	if (name !== 'ENCRYPTION_KEY') return words;
	return `${words}. If Handraise has run with them, put the former value with its marks into ENCRYPTION_KEY_FORMER`;
}

/** The `.env` files that Node.js was told to read. */
function environmentFiles(): string[] {
	const options = process.execArgv.join('\n').matchAll(/^--env-file(?:-if-exists)?[=\n](.+)$/gm);
	return [...options].flatMap(([, path = '']) => (existsSync(path) ? path : []));
}

/** The problem of a `.env` file. Node.js silently ignores a file that it may not read, and one in UTF-16. */
function unreadableFile(path: string): string[] {
	try {
		const bytes = readFileSync(path);
		if (bytes.includes(0)) return [`${path} is UTF-16, or has NUL bytes, so it is not read: save it as UTF-8`];
		// A comment or an empty line after the mark does no harm.
		if (!/^\uFEFF[^\S\n]*[^#\s]/.test(bytes.toString('utf8'))) return [];
		return [`${path} begins with a byte-order mark, so its first line is not read: save it as UTF-8 without BOM`];
	} catch (error) {
		return [
			`${path} cannot be read (${(error as NodeJS.ErrnoException).code}), nor its settings: check who may read it`,
		];
	}
}

/** Settings whose line became part of another one's value by an open quotation mark. */
function swallowedSettings(env: Environment, paths: readonly string[]): string[] {
	const inFiles = paths.flatMap((path) => Object.values(parseEnv(readFileSync(path, 'utf8'))));
	const values = [...inFiles, ...Object.keys(environment.shape).map((name) => env[name])];
	const names = values.flatMap((value) => [...(value ?? '').matchAll(/(?<=\n)[ \t]*(?:export )?(\w+)[ \t]*=/g)]);
	return [...new Set(names.map(([, name = '']) => name))]
		.filter((name) => isSetting(name) && env[name] === undefined)
		.map((name) => `${name} stands in the value of another setting: close the quotation mark above it`);
}

/** A misspelt setting about who may answer would have no effect and let everybody in. */
function misspeltAccess(env: Environment): string[] {
	const known = Object.keys(environment.shape).filter(isAboutAccess).join(', ');
	const misspelt = Object.keys(env).filter((name) => isAboutAccess(name) && !isSetting(name));
	return misspelt.map(
		(name) => `${name} is no setting and would not limit who may answer: correct it (${known}) or remove it`,
	);
}

/** The outgoing proxies; null: none. `hosts` is for logs, because the addresses may hold a password. */
export function proxySettings({ HTTPS_PROXY, HTTP_PROXY, NO_PROXY: noProxy = '' }: Partial<Settings>) {
	const addresses = [HTTPS_PROXY, HTTP_PROXY].filter((address) => address != null);
	if (addresses.length === 0) return null;
	const hosts = [...new Set(addresses.map((address) => new URL(address).host))].join(', ');
	return { httpsProxy: HTTPS_PROXY ?? '', httpProxy: HTTP_PROXY ?? '', noProxy, hosts };
}

/** The configuration of the program. `limits`: for tests. @throws HandraiseError `config_invalid` (`needSettings`) */
export function parseConfig(env: Environment, limits = LIMITS) {
	const valid = needSettings(env, /^/);
	const { SLACK_APP_TOKEN: appToken, SLACK_SIGNING_SECRET: signingSecret } = valid;
	return {
		...valid,
		/** Socket Mode when an app-level token is set, else signed HTTP. */
		transport:
			appToken === null
				? ({ kind: 'http', signingSecret: signingSecret ?? '' } as const)
				: ({ kind: 'socket', appToken } as const),
		proxy: proxySettings(valid),
		secretFiles: secretFilesOf(env),
		pool: limits.pool,
		personReads: limits.personReads,
		watchLimits: { ...limits.watches, all: valid.MAX_WATCHES },
	};
}

export type Config = Readonly<ReturnType<typeof parseConfig>>;

/**
 * Returns a function for the current value of a secret. It reads the file at each use, because watching would miss
 * links that are swapped (Kubernetes). While the file has nothing usable, the last value holds, and it is logged once.
 */
export function liveSecret(name: 'SLACK_BOT_TOKEN' | 'SESSION_SERVICE_API_KEY', config: Config, log: Log) {
	const path = config.secretFiles[name];
	let [current, told] = [config[name], ''];
	const problemOf = (content: string) =>
		quotesProblem(name, content) ?? environment.shape[name].safeParse(content).error?.issues[0]?.message ?? null;
	return () => {
		const content = path === undefined ? current : readSecret(path, name);
		if (content === current) return current;
		const problem = content instanceof Error ? content.message : problemOf(content);
		if (problem === null) {
			[current, told] = [String(content), ''];
			log.info({ setting: `${name}_FILE` }, 'the file has changed; its new content is used from now on');
		} else if (problem !== told) {
			told = problem;
			log.warn('secret_file_unusable', { setting: `${name}_FILE`, problem });
		}
		return current;
	};
}
