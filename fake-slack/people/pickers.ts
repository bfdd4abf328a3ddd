import { type Core, channelOf, kindOf, personOf } from '../core.ts';
import type { Placed } from '../elements.ts';
import { flag, type Json, record } from '../json.ts';
import type { Viewer } from '../payloads.ts';
import type { Channel } from '../state.ts';
import { isDate, isTime } from '../validation/rules/inputs.ts';
import { canMeet, canOpen } from '../visibility.ts';

/** The kinds of conversations, as a filter's `include` names them. */
const INCLUDED = { im: 'im', mpim: 'mpim', groups: 'private', channels: 'public' } as const;

/** Whether the element's filter lets the conversation through (docs.slack.dev, conversation filter object). */
function passes(core: Core, filter: Json | undefined, channel: Channel): boolean {
	const kinds = filter?.include;
	if (Array.isArray(kinds) && !kinds.includes(INCLUDED[kindOf(channel)])) return false;
	if (flag(filter?.exclude_external_shared_channels) && channel.isExtShared) return false;
	return !(flag(filter?.exclude_bot_users) && channel.isIm && channel.members.some((id) => personOf(core, id).isBot));
}

/** What a picker of this type holds instead, or undefined when Slack's picker offers the value. */
function refusal(core: Core, viewer: Viewer, { type, element }: Placed, value: string | number): string | undefined {
	switch (type.replace(/^multi_/, '')) {
		case 'users_select':
			return canMeet(core, viewer, personOf(core, String(value))) ? undefined : 'people whom this person can see';
		case 'channels_select':
		case 'conversations_select': {
			const channel = channelOf(core, String(value));
			const isOfType = type.endsWith('conversations_select') || kindOf(channel) === 'channels';
			const isListed = isOfType && !channel.isArchived && canOpen(core, viewer.user, channel);
			return isListed && passes(core, record(element, 'filter'), channel) ? undefined : 'other conversations';
		}
		case 'datepicker':
			return isDate(String(value)) ? undefined : 'a date as YYYY-MM-DD';
		case 'timepicker':
			return isTime(String(value)) ? undefined : 'a time as HH:mm';
		case 'datetimepicker':
			return /^\d{10}$/.test(String(value)) ? undefined : 'a time in seconds since the epoch';
		default:
			return undefined;
	}
}

/** Throws for a value that Slack's own pickers (of people, conversations, dates and times) do not offer this person. */
export function requireOffered(core: Core, viewer: Viewer, placed: Placed, held: unknown): void {
	for (const value of [held].flat()) {
		if ((typeof value !== 'string' && typeof value !== 'number') || value === '') continue;
		const instead = refusal(core, viewer, placed, value);
		if (instead !== undefined) throw new Error(`A ${placed.type} holds ${instead}, not ${JSON.stringify(value)}.`);
	}
}
