import type { SlackProblem } from './problem.ts';
import type { Accepted } from './samples/sample.ts';
import type { SlackValidator } from './validator.ts';

/** What a validator finds in a sample. */
export function judge(validator: SlackValidator, { subject }: Accepted): SlackProblem[] {
	switch (subject.kind) {
		case 'message':
			return validator.validateMessage(subject.value, subject.method);
		case 'view':
			return validator.validateView(subject.value);
		case 'errors':
			return validator.validateResponseActionErrors(subject.view, subject.value);
	}
}
