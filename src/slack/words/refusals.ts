import type { Refusal } from '../../answers/who-may.ts';
import { contactMrkdwn, contactText } from './people.ts';

const REASONS = {
	guest: 'Guests of this workspace cannot use Handraise.',
	bot: 'Apps and bots cannot use Handraise.',
	external: 'Handraise is for members of its own workspace; your account belongs to another organisation.',
	deactivated: 'This account is deactivated.',
	channel_not_allowed: 'Handraise may not be used in this channel.',
	user_not_allowed: 'You are not among the people who may use Handraise.',
	could_not_check: 'Slack did not tell in time whether you may do this.',
} as const satisfies Record<Refusal, string>;

export const REFUSALS = Object.keys(REASONS) as Refusal[];

/** What somebody is told who may not, with whom to ask. mrkdwn. */
export function refusalWords(refusal: Refusal, adminContact: string | null): string {
	return sentences(refusal, contactMrkdwn(adminContact));
}

/** The same without any mark-up, for field errors and other plain text. */
export function refusalPlain(refusal: Refusal, adminContact: string | null): string {
	return sentences(refusal, contactText(adminContact));
}

function sentences(refusal: Refusal, contact: string): string {
	if (refusal === 'could_not_check') {
		return `${REASONS[refusal]} Nothing was done. Please try again; if it goes on, ask ${contact}.`;
	}
	return `${REASONS[refusal]} Nothing was done. To change that, ask ${contact}.`;
}
