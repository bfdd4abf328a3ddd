import type { SettingsReading } from '../config.ts';
import { type Finding, findingsOf } from './finding.ts';

/** What src/config.ts finds, and what it cannot know: names that are meant for Handraise and are none of its settings. */
export function checkSettings({ problems, unknown }: Pick<SettingsReading, 'problems' | 'unknown'>): Finding[] {
	const { ok, warning, failure } = findingsOf('Settings');
	const found = problems.map((problem) => failure(`${problem}.`));
	for (const name of unknown) {
		found.push(
			warning(`${name} is no setting of Handraise and is not read: is it misspelt? See the settings in the README.`),
		);
	}
	return found.length > 0 ? found : [ok('complete and well-formed.')];
}
