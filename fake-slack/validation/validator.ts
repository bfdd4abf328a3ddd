import { openPayload, type Payload, type PayloadInput } from './payload.ts';
import type { SlackErrorCode, SlackProblem, Surface } from './problem.ts';
import type { Report } from './rule.ts';
import { createRules, type Tables } from './rules.ts';

/** Methods whose limits differ for the same message. */
export type MessageMethod = 'chat.postMessage' | 'chat.update' | 'chat.postEphemeral' | 'response_url';

export type SlackValidator = {
	/** Checks a message's arguments (`text`, `blocks`, `metadata`); empty when Slack takes them. */
	validateMessage: (payload: unknown, method?: MessageMethod) => SlackProblem[];
	/** Checks the `view` of views.open, push, update, publish or of a response_action; empty when Slack takes it. */
	validateView: (view: unknown) => SlackProblem[];
	/**
	 * Checks the `errors` of `response_action: 'errors'` against the view that was submitted: they name block_ids of input
	 * blocks. Pointers begin with `/errors`.
	 */
	validateResponseActionErrors: (view: unknown, errors: unknown) => SlackProblem[];
};

function createReport(problems: SlackProblem[], usual: SlackErrorCode): Report {
	return (words, pointer, error = usual) => {
		const message = pointer === '' ? words : `${words} [json-pointer:${pointer}]`;
		if (!problems.some((problem) => problem.message === message)) problems.push({ error, message, pointer });
	};
}

function surfaceOf(view: unknown): Surface {
	const isHome = typeof view === 'object' && view !== null && 'type' in view && view.type === 'home';
	return isHome ? 'home' : 'modal';
}

/** A validator over the given tables. Other tables, and other ways to open a payload, are for the tests of the rules. */
export function createSlackValidator(
	tables: Tables,
	open: (input: PayloadInput) => Payload = openPayload,
): SlackValidator {
	const rules = createRules(tables);

	function run(input: PayloadInput, usual: SlackErrorCode): SlackProblem[] {
		const payload = open(input);
		const problems: SlackProblem[] = [];
		const report = createReport(problems, usual);
		for (const rule of rules) rule.check(payload, report);
		return problems;
	}

	return {
		validateMessage: (value, method = 'chat.postMessage') =>
			run({ kind: 'message', surface: 'message', method, value }, 'invalid_blocks'),
		validateView: (value) => run({ kind: 'view', surface: surfaceOf(value), method: '', value }, 'invalid_arguments'),
		validateResponseActionErrors: (view, errors) => {
			const payload = open({ kind: 'view', surface: surfaceOf(view), method: '', value: view });
			const problems: SlackProblem[] = [];
			const report = createReport(problems, 'invalid_arguments');
			for (const rule of tables.errors) rule.check(payload, errors, report);
			return problems;
		},
	};
}
