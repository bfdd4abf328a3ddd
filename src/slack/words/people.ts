import { escapeMrkdwn, oneLine, quotedNameMrkdwn } from '../text.ts';

/** Display names for people whose id is not a Slack user id. They are untrusted text. */
export interface Names {
	displayName(userId: string): string;
}

/** A mention for a Slack user id, else the quoted name. */
export function personMrkdwn(userId: string, names: Names): string {
	return isUserId(userId) ? `<@${userId}>` : personName(userId, names);
}

/** The quoted name, which notifies nobody. It may not be known: the program learns it when the person acts. mrkdwn. */
export function personName(userId: string, names: Names): string {
	return quotedNameMrkdwn(names.displayName(userId), 80) || 'somebody';
}

/** Whom to ask: a Slack user id becomes a mention, anything else stays text. */
export function contactMrkdwn(adminContact: string | null): string {
	if (adminContact === null || adminContact.trim() === '') return 'whoever runs Handraise here';
	const contact = adminContact.trim();
	return isUserId(contact) ? `<@${contact}>` : escapeMrkdwn(oneLine(contact, 200));
}

/** The same for plain text, in which an id means nothing to people. */
export function contactText(adminContact: string | null): string {
	const contact = oneLine(adminContact ?? '', 200);
	return contact === '' || isUserId(contact) ? 'whoever runs Handraise here' : contact;
}

function isUserId(text: string): boolean {
	return /^[UW][A-Z0-9]{2,30}$/.test(text);
}
