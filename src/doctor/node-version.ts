import { type Finding, findingsOf } from './finding.ts';

const OLDEST_MAJOR = 24;

export function checkNode(version: string): Finding[] {
	const { ok, failure } = findingsOf('Node.js');
	const major = Number.parseInt(version, 10);
	return major >= OLDEST_MAJOR
		? [ok(`${version}.`)]
		: [
				failure(
					`this is ${version}; Handraise needs ${OLDEST_MAJOR} or newer, which runs TypeScript as it is: install it.`,
				),
			];
}
