import { z } from 'zod';
import { HandraiseError } from './errors.ts';
import { SHOW_ANSWERS } from './questions/disclosure.ts';

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

const blankIsUnset = (value: unknown) => (typeof value === 'string' && value.trim() === '' ? undefined : value);
const setting = <T extends z.ZodType>(type: T) => z.preprocess(blankIsUnset, type);

const required = (hint: string) => setting(z.string({ error: `is missing: ${hint}` }).trim());
const optional = setting(z.string().trim().optional());

const webAddress = (protocols: readonly string[]) => (value: string) => {
	const url = URL.parse(value);
	return url !== null && protocols.includes(url.protocol) && url.search === '' && url.hash === '';
};
const withoutTrailingSlash = (url: string) => url.replace(/\/+$/, '');
const HTTP = ['http:', 'https:'];
const NOT_AN_ADDRESS = 'is not a usable address: give one that starts with https:// (or http://) without ? or #';

const flag = setting(
	z
		.enum(['true', 'false', '1', '0', 'yes', 'no'], { error: 'is neither true nor false' })
		.transform((value) => ['true', '1', 'yes'].includes(value))
		.default(false),
);
const wholeNumber = (fallback: number, min: number, max: number) =>
	setting(
		z.coerce
			.number({ error: `is not a number: give a whole number from ${min} to ${max}` })
			.int(`is not a whole number from ${min} to ${max}`)
			.min(min, `is less than ${min}`)
			.max(max, `is more than ${max}`)
			.default(fallback),
	);
const ids = (pattern: RegExp, example: string) =>
	setting(
		z
			.string()
			.default('')
			.transform((value) => value.split(/[\s,]+/).filter((id) => id !== ''))
			.refine((list) => list.every((id) => pattern.test(id)), {
				error: `holds something that is no Slack id: give ids such as ${example}, separated by commas`,
			}),
	);

const environment = z.object({
	SLACK_BOT_TOKEN: required('the bot token (xoxb-…) from "OAuth & Permissions" of your Slack app').refine(
		(value) => !/^(xapp-|xoxp-|xoxe)|-$/.test(value),
		'is another kind of token, or not whole: take the bot token, it starts with xoxb-',
	),
	SLACK_APP_TOKEN: optional.refine(
		(value) => value === undefined || !/^xox|-$/.test(value),
		'is another kind of token, or not whole: take an app-level token with connections:write, it starts with xapp-',
	),
	SLACK_SIGNING_SECRET: optional,
	SLACK_API_URL: setting(
		z.string().trim().default('https://slack.com/api/').refine(webAddress(HTTP), NOT_AN_ADDRESS),
	).transform((url) => `${withoutTrailingSlash(url)}/`),
	SESSION_SERVICE_URL: required('the base address of the session service, without /v1')
		.refine(webAddress(HTTP), NOT_AN_ADDRESS)
		.refine((value) => !/\/v1\/?$/.test(value), 'ends in /v1: leave that out, Handraise adds it')
		.refine((value) => !URL.parse(value)?.username, 'holds a user name: the key goes into SESSION_SERVICE_API_KEY')
		.transform(withoutTrailingSlash),
	SESSION_SERVICE_API_KEY: required("the key from the API section of the service's dashboard").refine(
		(value) => /^[\x21-\x7e]+$/.test(value),
		'holds characters that no HTTP header may carry: copy it again',
	),
	SESSION_SERVICE_RPM: wholeNumber(250, 10, 100_000),
	SESSION_SERVICE_TIMEOUT_MS: wholeNumber(20_000, 100, 120_000),
	SESSION_DASHBOARD_URL: optional
		.refine((value) => value === undefined || webAddress(HTTP)(value), NOT_AN_ADDRESS)
		.transform((value) => (value === undefined ? undefined : withoutTrailingSlash(value))),
	DATABASE_URL: optional.refine(
		(value) => value === undefined || ['postgres:', 'postgresql:'].includes(URL.parse(value)?.protocol ?? ''),
		'is not a PostgreSQL address: it has to look like postgres://user:password@host:5432/database',
	),
	DATA_DIR: setting(z.string().trim().default('./data')),
	ENCRYPTION_KEY: optional,
	ALLOW_GUESTS: flag,
	ALLOW_EXTERNAL: flag,
	ALLOWED_CHANNELS: ids(/^[CGD][A-Z0-9]{2,}$/, 'C0123ABCD'),
	ALLOWED_USERS: ids(/^[UW][A-Z0-9]{2,}$/, 'U0123ABCD'),
	ALLOWED_USERGROUPS: ids(/^S[A-Z0-9]{2,}$/, 'S0123ABCD'),
	ADMIN_CONTACT: optional,
	PERSON_BURST: wholeNumber(20, 1, 100_000),
	PERSON_READS_PER_MINUTE: wholeNumber(20, 1, 100_000),
	MAX_WATCHES_PER_PERSON: wholeNumber(50, 1, 100_000),
	MAX_WATCHES_PER_CHANNEL: wholeNumber(100, 1, 100_000),
	MAX_WATCHES: wholeNumber(1_000, 1, 100_000),
	SHOW_ANSWERS: setting(z.enum(SHOW_ANSWERS, { error: `is not one of ${SHOW_ANSWERS.join(', ')}` }).default('auto')),
	RETENTION_DAYS: wholeNumber(90, 1, 3650),
	WAITING_SECRET_DAYS: wholeNumber(7, 1, 3650),
	WATCH_MAX_DAYS: wholeNumber(7, 1, 365),
	GIVE_UP_HOURS: wholeNumber(24, 1, 720),
	PORT: wholeNumber(3000, 0, 65_535),
	LOG_LEVEL: setting(z.enum(LOG_LEVELS, { error: `is not one of ${LOG_LEVELS.join(', ')}` }).default('info')),
});

/** What only several settings together tell; asked of the raw environment, so that it is said beside other problems. */
function crossProblems(env: Readonly<Record<string, string | undefined>>): string[] {
	const unset = (name: string) => blankIsUnset(env[name]) === undefined;
	const problems: string[] = [];
	if (unset('SLACK_APP_TOKEN') && unset('SLACK_SIGNING_SECRET'))
		problems.push(
			'SLACK_APP_TOKEN is missing: give an app-level token (xapp-…) for Socket Mode, or SLACK_SIGNING_SECRET for HTTP',
		);
	if (!unset('DATABASE_URL') && unset('ENCRYPTION_KEY'))
		problems.push(
			'ENCRYPTION_KEY is missing: with DATABASE_URL all replicas need one key; make it with: openssl rand -base64 32',
		);
	return problems;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The settings by the names they have in the environment, each as it is used. */
export type Settings = z.output<typeof environment>;

export interface SettingsReading {
	/** Those that are right; an optional one that is not set is there as undefined. */
	readonly settings: Partial<Settings>;
	/** One line for each missing or wrong setting, without its value. */
	readonly problems: readonly string[];
	/** Names in the environment that look as if they were meant for Handraise, which knows no such setting. */
	readonly unknown: readonly string[];
}

/** Reads each setting by itself, so that the others can be used when one is wrong. */
export function readSettings(env: Environment): SettingsReading {
	const settings: Record<string, unknown> = {};
	const problems: string[] = [];
	for (const [name, type] of Object.entries(environment.shape)) {
		const parsed = type.safeParse(env[name]);
		if (parsed.success) settings[name] = parsed.data;
		else problems.push(...parsed.error.issues.map((issue) => `${name} ${issue.message}`));
	}
	return {
		settings: settings as Partial<Settings>,
		problems: [...new Set([...problems, ...crossProblems(env)])],
		unknown: unknownSettings(env),
	};
}

const OUR_NAMES =
	/^(SLACK|SESSION_SERVICE|SESSION_DASHBOARD|ALLOW|ALLOWED|PERSON|MAX_WATCH|MAX_WATCHES|SHOW|RETENTION|GIVE_UP|WAITING_SECRET|WATCH_MAX)_/;

/** Names in the environment that look as if they were meant for Handraise, which knows no such setting. */
export function unknownSettings(env: Environment): readonly string[] {
	return Object.keys(env).filter((name) => OUR_NAMES.test(name) && !Object.hasOwn(environment.shape, name));
}

/**
 * Parses the environment. Nothing else reads `process.env`.
 * @throws HandraiseError `config_invalid`: one line for each missing or wrong setting, with what to do and no value in it
 */
export function parseConfig(env: Environment) {
	const { settings, problems } = readSettings(env);
	if (problems.length > 0) throw new HandraiseError(problems.join('\n'), { code: 'config_invalid' });
	const e = settings as Settings;
	return {
		slack: {
			botToken: e.SLACK_BOT_TOKEN,
			apiUrl: e.SLACK_API_URL,
			/** Socket Mode when an app-level token is set, else signed HTTP. */
			transport:
				e.SLACK_APP_TOKEN !== undefined
					? ({ kind: 'socket', appToken: e.SLACK_APP_TOKEN } as const)
					: ({ kind: 'http', signingSecret: e.SLACK_SIGNING_SECRET ?? '' } as const),
		},
		service: {
			/** Base address without `/v1` and without a trailing slash. */
			url: e.SESSION_SERVICE_URL,
			apiKey: e.SESSION_SERVICE_API_KEY,
			requestsPerMinute: e.SESSION_SERVICE_RPM,
			/** The longest one call may take in all; after that long a PUT is taken to be unable to land. */
			callTimeoutMs: e.SESSION_SERVICE_TIMEOUT_MS,
		},
		/** Without a trailing slash; null when there is none to link to. */
		dashboardUrl: e.SESSION_DASHBOARD_URL ?? null,
		store: {
			databaseUrl: e.DATABASE_URL ?? null,
			dataDir: e.DATA_DIR,
			encryptionKey: e.ENCRYPTION_KEY ?? null,
		},
		/** Empty lists: every channel, every person. */
		access: {
			allowGuests: e.ALLOW_GUESTS,
			allowExternal: e.ALLOW_EXTERNAL,
			channels: e.ALLOWED_CHANNELS,
			users: e.ALLOWED_USERS,
			userGroups: e.ALLOWED_USERGROUPS,
			adminContact: e.ADMIN_CONTACT ?? null,
		},
		/** So that people take turns: reads of one person at once, and then in a minute. */
		people: { burst: e.PERSON_BURST, readsPerMinute: e.PERSON_READS_PER_MINUTE },
		/** The most watches of one person, of one channel, of all. */
		watchLimits: { person: e.MAX_WATCHES_PER_PERSON, channel: e.MAX_WATCHES_PER_CHANNEL, all: e.MAX_WATCHES },
		/** Whether channels see what was answered, or only that. */
		showAnswers: e.SHOW_ANSWERS,
		retentionDays: e.RETENTION_DAYS,
		waitingSecretDays: e.WAITING_SECRET_DAYS,
		watchMaxDays: e.WATCH_MAX_DAYS,
		/** How long an answer is tried before its author is asked. */
		giveUpMs: e.GIVE_UP_HOURS * 3_600_000,
		port: e.PORT,
		logLevel: e.LOG_LEVEL,
	};
}

export type Config = Readonly<ReturnType<typeof parseConfig>>;
