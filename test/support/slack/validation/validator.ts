import { openPayload } from './payload.ts';
import type { SlackErrorCode, SlackProblem, Surface } from './problem.ts';
import type { Report, Rule } from './rule.ts';
import type { ErrorsRule } from './rules/response-action.ts';

/** Methods whose limits differ for the same message. */
export type MessageMethod = 'chat.postMessage' | 'chat.update' | 'chat.postEphemeral' | 'response_url';

export type SlackValidator = {
	/** Checks a message's arguments (`text`, `blocks`, `attachments`, `metadata`); empty when Slack takes them. */
	validateMessage: (payload: unknown, method?: MessageMethod) => SlackProblem[];
	/** Checks the `view` of views.open, push, update, publish or of a response_action; empty when Slack takes it. */
	validateView: (view: unknown) => SlackProblem[];
	/** Checks an array of blocks as it stands on a surface; pointers begin with `/blocks`. */
	validateBlocks: (blocks: unknown, surface: Surface) => SlackProblem[];
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

/** A validator over the given rules; taking some away is for the tests that prove each of them. */
export function createSlackValidator({
	rules,
	errorsRules,
}: {
	rules: readonly Rule[];
	errorsRules: readonly ErrorsRule[];
}): SlackValidator {
	function run(input: Parameters<typeof openPayload>[0], usual: SlackErrorCode): SlackProblem[] {
		const payload = openPayload(input);
		const problems: SlackProblem[] = [];
		const report = createReport(problems, usual);
		for (const rule of rules) rule.check(payload, report);
		return problems;
	}

	return {
		validateMessage: (value, method = 'chat.postMessage') =>
			run({ kind: 'message', surface: 'message', method, value }, 'invalid_blocks'),
		validateView: (value) => run({ kind: 'view', surface: surfaceOf(value), method: '', value }, 'invalid_arguments'),
		validateBlocks: (value, surface) => run({ kind: 'blocks', surface, method: '', value }, 'invalid_blocks'),
		validateResponseActionErrors: (view, errors) => {
			const payload = openPayload({ kind: 'view', surface: surfaceOf(view), method: '', value: view });
			const problems: SlackProblem[] = [];
			const report = createReport(problems, 'invalid_arguments');
			for (const rule of errorsRules) rule.check(payload, errors, report);
			return problems;
		},
	};
}
