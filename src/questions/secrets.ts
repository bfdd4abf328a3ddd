import type { HumanInputItem } from './session.ts';

/** Whether an item asks for something that must not be shown, kept or repeated. */
export function looksSecret(item: Pick<HumanInputItem, 'title' | 'description'>): boolean {
	return /password|passwort|\bpin\b|one-time|verification code|\botp\b|api key|\bcvv\b/i.test(
		item.title.slice(0, 4000),
	);
}
