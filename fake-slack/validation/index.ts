import { tables } from './rules.ts';
import { createSlackValidator } from './validator.ts';

export type { SlackProblem } from './problem.ts';
export type { MessageMethod } from './validator.ts';

/** What Slack would answer to a message, a view, blocks or the errors of a submission: empty lists where it would take them. */
export const { validateMessage, validateView, validateResponseActionErrors } = createSlackValidator(tables);
