import { readFileSync } from 'node:fs';

/** This program's version, from `package.json`. */
export function ownVersion(): string {
	return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version;
}
