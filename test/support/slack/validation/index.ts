import type { SlackProblem, Surface } from './problem.ts';

export type { SlackErrorCode, SlackProblem, Surface } from './problem.ts';

/** Checks the arguments of chat.postMessage, chat.update, chat.postEphemeral or a response_url; empty when Slack takes them. */
export function validateMessage(_payload: unknown): SlackProblem[] {
	return [];
}

/** Checks the `view` of views.open, views.push, views.update, views.publish or a response_action; empty when Slack takes it. */
export function validateView(_view: unknown): SlackProblem[] {
	return [];
}

/** Checks an array of blocks as it stands on a surface; pointers begin with `/blocks`. */
export function validateBlocks(_blocks: unknown, _surface: Surface): SlackProblem[] {
	return [];
}

/** Checks the `errors` of `response_action: 'errors'` against the view they answer: they name block_ids of input blocks. */
export function validateResponseActionErrors(_view: unknown, _errors: unknown): SlackProblem[] {
	return [];
}
