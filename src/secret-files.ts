import { closeSync, openSync, readSync } from 'node:fs';
import type { Log } from './core/basics.ts';

/** The settings that a file may hold instead: its path is the setting `NAME_FILE`. */
// biome-ignore format: a list of words
export const SECRETS = [
	'SLACK_BOT_TOKEN', 'SLACK_APP_TOKEN', 'SLACK_SIGNING_SECRET', 'SESSION_SERVICE_API_KEY', 'DATABASE_URL',
	'HTTPS_PROXY', 'HTTP_PROXY', 'ENCRYPTION_KEY', 'ENCRYPTION_KEY_FORMER',
] as const;
export type Secret = (typeof SECRETS)[number];

/** Far more than any of them has. */
const MAX_BYTES = 64 * 1024;

type Environment = Readonly<Record<string, string | undefined>>;

const isSet = (value: string | undefined): value is string => value !== undefined && value.trim() !== '';

/** The path of each secret that a file holds, by the name of the secret. */
export function secretFilesOf(env: Environment): Partial<Record<Secret, string>> {
	const files = SECRETS.map((name) => [name, env[`${name}_FILE`]] as const);
	return Object.fromEntries(files.filter(([, path]) => isSet(path)));
}

/** The environment with the files' content, and one line for each file that gives no value, without any content. */
export function withSecretFiles(env: Environment): { readonly env: Environment; readonly problems: readonly string[] } {
	const filled: Record<string, string | undefined> = { ...env };
	const problems: string[] = [];
	for (const [name, path] of Object.entries(secretFilesOf(env))) {
		// In lower case a proxy's name comes first.
		const direct = name.endsWith('_PROXY') ? [name.toLowerCase(), name] : [name];
		const both = direct.find((other) => isSet(env[other]));
		const content = both === undefined ? readSecret(path, name) : null;
		if (both !== undefined) problems.push(`${name}_FILE and ${both} are both set: remove one of them`);
		else if (content instanceof Error) problems.push(`${name}_FILE ${content.message}`);
		else for (const other of direct) filled[other] = content ?? undefined;
	}
	return { env: filled, problems };
}

function readSecret(path: string, name: string): string | Error {
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

interface LiveSecret {
	readonly name: Secret;
	readonly first: string;
	/** Left out: it never changes. */
	readonly path: string | undefined;
	/** The problem of such content; null: it can be used. */
	readonly problemOf: (content: string) => string | null;
	readonly log: Log;
}

/**
 * A secret as it is now. Its file is read at each use, so links that are swapped (Kubernetes) need no watching. While
 * the file gives nothing usable, the last usable content holds, and the log says so once.
 */
export function createLiveSecret({ name, first, path, problemOf, log }: LiveSecret): () => string {
	let [current, told] = [first, ''];
	if (path === undefined) return () => current;
	return () => {
		const content = readSecret(path, name);
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
