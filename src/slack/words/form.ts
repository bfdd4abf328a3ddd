/* Hints and errors of form fields are plain text: Slack shows no mark-up in them. */

export const SECRET_WARNING =
	'Slack cannot hide what you type, so check who can see your screen. Handraise never shows the answer again, and removes it after delivery.';
export const NEVER_GIVE = 'Never give an agent a password that you would not give to the people who run it.';
export const SECRET_MEANING =
	'Handraise shows a secret answer to nobody, and removes it after delivery. The agent may still repeat it.';
export const SECRET_TICKED =
	'Whatever looks like a password or a code is ticked. Without the tick, it is treated like any other answer.';

/** The hint of a field that shows only the beginning of a text. */
export function cutHint(characters: number): string {
	return `Your text of ${characters.toLocaleString('en-US')} characters is longer than a field in Slack can show. The full text is sent if you do not change this field.`;
}

export const FIELD_ERRORS = {
	otherMissing: 'Write what you mean by "something else", or choose one of the options.',
	otherUnused: 'To send this text, choose "Something else…" above. Otherwise clear it.',
	allEmpty: 'Fill in at least one field.',
	missing: 'Please fill this in. If you cannot, press "I can\'t answer all of it" below.',
} as const;

/** By type of input, for a value that does not fit it. */
export const FORMAT_ERRORS = {
	number_input: 'This has to be a number, such as 42 or 3.5. For other text press "Plain text fields" below.',
	email_text_input: 'This has to be an e-mail address. For other text press "Plain text fields" below.',
	url_text_input:
		'This has to be a web address that begins with https://. For other text press "Plain text fields" below.',
	datepicker: 'Choose a date.',
	timepicker: 'Choose a time.',
} as const;

export function tooLargeError(overBytes: number): string {
	return `The question and your answers together are ${Math.ceil(overBytes / 1000)} kB larger than the session service accepts. Please shorten this text.`;
}

/** Below a question of which the form shows only the beginning. */
export function cutQuestionWords(hasDashboard: boolean): string {
	return `✂️ The text is longer than Slack can show. Read all of it ${hasDashboard ? 'in the dashboard, with the button below' : "on the session service's own page"}.`;
}

/** Below a form whose fields are optional. */
export const MAY_STAY_EMPTY = 'You can leave fields empty. The agent gets them as empty answers.';
export const NO_ROOM_FOR_STEPS = 'The form takes all the space here, so the steps are not shown.';
