/* Hints and errors of form fields are plain text: Slack shows no mark-up in them. */

export const SECRET_WARNING =
	'Slack cannot hide what you type, so mind who sees your screen. Handraise does not show the answer again, and removes it once it has arrived.';
export const NEVER_GIVE = 'Never give an agent a password that you would not give to the people who run it.';
export const SECRET_MEANING =
	'Handraise shows a secret answer to nobody, and removes it once it has arrived. The agent may still repeat it.';
export const SECRET_TICKED =
	'What looks like a password or a code is ticked; without the tick it is treated like any other answer.';

/** The hint of a field that shows a text of so many characters cut. */
export function cutHint(characters: number): string {
	return `Your text of ${characters.toLocaleString('en-US')} characters is longer than a field in Slack can show. It is sent whole as long as you leave this field as it is.`;
}

export const FIELD_ERRORS = {
	otherMissing: 'Write what you mean by "something else", or choose one of the options.',
	otherUnused: 'To send this text, choose "Something else…" above. Otherwise clear it.',
	allEmpty: 'Fill in at least one field.',
	missing: 'Please fill this in. If you cannot, press "I can\'t answer all of it" below.',
} as const;

/** By type of input, for a value of another format. */
export const FORMAT_ERRORS = {
	number_input: 'This has to be a number, such as 42 or 3.5. For other text press "Plain text fields" below.',
	email_text_input: 'This has to be an e-mail address. For other text press "Plain text fields" below.',
	url_text_input:
		'This has to be a web address that begins with https://. For other text press "Plain text fields" below.',
	datepicker: 'Choose a date.',
	timepicker: 'Choose a time.',
} as const;

export function tooLargeError(overBytes: number): string {
	return `Question and answers together are ${Math.ceil(overBytes / 1000)} kB longer than the session service takes. Please shorten this text.`;
}

/** Why a question has no form here, and where it can be answered. */
export function noFormWords(
	form: { readonly kind: 'tooMany'; readonly count: number } | { readonly kind: 'tooLarge' },
	hasDashboard: boolean,
): string {
	const why =
		form.kind === 'tooMany'
			? `📋 It asks ${form.count.toLocaleString('en-US')} things at once, more than Slack can show in one form.`
			: '📋 The question itself is so long that the session service would not take an answer from here.';
	return hasDashboard
		? `${why} Please answer it in the dashboard: the button is below.`
		: `${why} Please answer it in the session service's own page.`;
}

/** Below a form that is not answered in full. */
export const MAY_STAY_EMPTY = 'Fields may stay empty. The agent gets them as empty answers.';
/** Below a form that leaves no room for steps. */
export const NO_ROOM_FOR_STEPS = 'The form takes all the room here, so the steps are left out.';
