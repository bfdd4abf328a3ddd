import { type Core, personOf } from '../core.ts';
import type { Placed } from '../elements.ts';
import type { Viewer } from '../payloads.ts';
import { isDate, isTime } from '../validation/rules/inputs.ts';
import { canMeet } from '../visibility.ts';

/** What a picker of this type holds instead, or undefined when Slack's picker offers the value. */
function refusal(core: Core, viewer: Viewer, type: string, value: string): string | undefined {
	switch (type) {
		case 'users_select':
		case 'multi_users_select':
			return canMeet(core, viewer, personOf(core, value)) ? undefined : 'people whom this person can see';
		case 'datepicker':
			return isDate(value) ? undefined : 'a date as YYYY-MM-DD';
		case 'timepicker':
			return isTime(value) ? undefined : 'a time as HH:mm';
		default:
			return undefined;
	}
}

/** Throws for a value that Slack's own pickers (of people, dates and times) do not offer this person. */
export function requireOffered(core: Core, viewer: Viewer, placed: Placed, held: unknown): void {
	for (const value of [held].flat()) {
		if (typeof value !== 'string' || value === '') continue;
		const instead = refusal(core, viewer, placed.type, value);
		if (instead !== undefined) throw new Error(`A ${placed.type} holds ${instead}, not ${JSON.stringify(value)}.`);
	}
}
