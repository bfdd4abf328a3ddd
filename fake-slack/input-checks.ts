import { isEmpty, type Placed, placedElements } from './elements.ts';
import { type Json, text } from './json.ts';
import type { InputState, InputValue } from './state.ts';

/** Error texts of Slack's client under a field, as seen in the desktop client. The app never gets them. */
const CLIENT_MESSAGES = {
	required: 'Please complete this required field.',
	email: 'Please enter a valid email address.',
	url: 'Please enter a valid URL.',
	number: 'Please enter a number.',
	wholeNumber: 'Please enter a whole number.',
} as const;

function checkNumber(element: Json, value: string): string | undefined {
	if (!/^[-+]?(\d+\.?\d*|\.\d+)$/.test(value.trim())) return CLIENT_MESSAGES.number;
	const isRight = element.is_decimal_allowed === true || Number.isInteger(Number(value));
	return isRight ? undefined : CLIENT_MESSAGES.wholeNumber;
}

function isUrl(value: string): boolean {
	try {
		return /^https?:$/.test(new URL(value).protocol);
	} catch {
		return false;
	}
}

function checkOne(placed: Placed, value: InputValue | undefined): string | undefined {
	if (isEmpty(value)) return placed.block.optional === true ? undefined : CLIENT_MESSAGES.required;
	const typed = text(value, 'value') ?? '';
	switch (placed.type) {
		case 'plain_text_input': {
			const max = Number(placed.element.max_length ?? 3000);
			return typed.length > max ? `Please enter ${max} characters or fewer.` : undefined;
		}
		case 'email_text_input':
			return /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(typed) ? undefined : CLIENT_MESSAGES.email;
		case 'url_text_input':
			return isUrl(typed) ? undefined : CLIENT_MESSAGES.url;
		case 'number_input':
			return checkNumber(placed.element, typed);
		default:
			return undefined;
	}
}

/** What Slack's client shows under fields at Submit, by block_id. The submission is sent only when this is empty. */
export function clientErrors(blocks: readonly Json[], input: InputState): Record<string, string> {
	const errors: Record<string, string> = {};
	for (const placed of placedElements(blocks)) {
		if (!placed.isInput) continue;
		const error = checkOne(placed, input.values[placed.blockId]?.[placed.actionId]);
		if (error !== undefined) errors[placed.blockId] = error;
	}
	return errors;
}
