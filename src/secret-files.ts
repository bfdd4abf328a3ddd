import { closeSync, openSync, readSync } from 'node:fs';

/** The settings that can be in a file. The setting `NAME_FILE` is its path. */
// biome-ignore format: a list of words
export const SECRETS = [
	'SLACK_BOT_TOKEN', 'SLACK_APP_TOKEN', 'SLACK_SIGNING_SECRET', 'SESSION_SERVICE_API_KEY', 'DATABASE_URL',
	'HTTPS_PROXY', 'HTTP_PROXY', 'ENCRYPTION_KEY', 'ENCRYPTION_KEY_FORMER',
] as const;
type Secret = (typeof SECRETS)[number];

/** Far more than any secret has. */
const MAX_BYTES = 64 * 1024;

export type Environment = Readonly<Record<string, string | undefined>>;

const isSet = (value: string | undefined): value is string => value !== undefined && value.trim() !== '';

/** The paths of the secrets that are in files, by the secret's name. */
export function secretFilesOf(env: Environment): Partial<Record<Secret, string>> {
	const files = SECRETS.map((name) => [name, env[`${name}_FILE`]] as const);
	return Object.fromEntries(files.filter(([, path]) => isSet(path)));
}

/** The environment with the content of secret files, and a problem for each file without a value. */
export function withSecretFiles(env: Environment): { readonly env: Environment; readonly problems: readonly string[] } {
	const filled: Record<string, string | undefined> = { ...env };
	const problems: string[] = [];
	for (const [name, path] of Object.entries(secretFilesOf(env))) {
		// A proxy's name in lower case has precedence.
		const direct = name.endsWith('_PROXY') ? [name.toLowerCase(), name] : [name];
		const both = direct.find((other) => isSet(env[other]));
		const content = both === undefined ? readSecret(path, name) : null;
		if (both !== undefined) problems.push(`${name}_FILE and ${both} are both set: remove one of them`);
		else if (content instanceof Error) problems.push(`${name}_FILE ${content.message}`);
		else for (const other of direct) filled[other] = content ?? undefined;
	}
	return { env: filled, problems };
}

/** A secret file's content, or its problem: the end of a sentence that begins with the setting. */
export function readSecret(path: string, name: string): string | Error {
	try {
		const file = openSync(path, 'r');
		try {
			const bytes = Buffer.alloc(MAX_BYTES + 1);
			const length = readSync(file, bytes);
			if (length > MAX_BYTES) return new Error('names a file of more than 64 KiB: it holds something else');
			const text = bytes.toString('utf8', 0, length).trim();
			const used =
				name === 'ENCRYPTION_KEY' ? '. If Handraise has run with it, name it in ENCRYPTION_KEY_FORMER_FILE' : '';
			if (text.includes('\0') && name !== 'ENCRYPTION_KEY_FORMER')
				return new Error(`names a file in UTF-16, or with NUL bytes: save it as UTF-8${used}`);
			return text === '' ? new Error('names an empty file: write the value into it') : text;
		} finally {
			closeSync(file);
		}
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		return new Error(`names a file that cannot be read (${code}): check its path and who may read it`);
	}
}
