import type { Refusal } from '../../answers/access-policy.ts';
import { contactMrkdwn, contactText } from './people.ts';

const REASONS = {
	guest: 'Guests of this workspace cannot use Handraise.',
	bot: 'Apps and bots cannot use Handraise.',
	external: 'Handraise is for members of its own workspace; your account belongs to another workspace or organisation.',
	deactivated: 'This account is deactivated.',
	channel_not_allowed: 'Handraise may not be used in this channel.',
	user_not_allowed: 'You are not among the people who may use Handraise.',
	could_not_check: 'Handraise could not check with Slack whether you may do this.',
} as const satisfies Record<Refusal, string>;

export const REFUSALS = Object.keys(REASONS) as Refusal[];

/** What somebody is told who may not, with whom to ask. mrkdwn. */
export function refusalWords(refusal: Refusal, adminContact: string | null): string {
	return `${REASONS[refusal]} Nothing was done. ${wayOn(refusal, contactMrkdwn(adminContact))}`;
}

/** The same at "Send answer", where the text stays in the form; without any mark-up. */
export function refusalAtSubmit(refusal: Refusal, adminContact: string | null): string {
	return `${REASONS[refusal]} Your text is still here and was not sent. ${wayOn(refusal, contactText(adminContact))}`;
}

function wayOn(refusal: Refusal, contact: string): string {
	return refusal === 'could_not_check'
		? `Please try again; if it goes on, ask ${contact}.`
		: `To change that, ask ${contact}.`;
}
