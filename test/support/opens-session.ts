import { ACTIONS, encodeMenuChoice, encodeTarget } from '../../src/slack/ids.ts';

interface Offer {
	readonly text?: { readonly text?: string };
	readonly value?: string;
	readonly action_id?: string;
}

/** Whether a message opens a session as its card does, with a button or an entry of its menu. `sessionId` left out: any. */
export function opensSession(blocks: unknown, sessionId?: string): boolean {
	return offersIn(blocks).some(({ text, value, action_id: id }) => {
		if (text?.text !== 'Open session' && text?.text !== 'Show all') return false;
		if (sessionId === undefined) return id === ACTIONS.open || value?.includes(ACTIONS.open) === true;
		const target = encodeTarget({ sessionId, messageIndex: null });
		return value === target || value === encodeMenuChoice({ actionId: ACTIONS.open, value: target });
	});
}

function offersIn(value: unknown): Offer[] {
	if (typeof value !== 'object' || value === null) return [];
	return [value, ...Object.values(value).flatMap(offersIn)];
}
