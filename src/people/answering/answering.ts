import { createAnswers } from '../../delivery/accept.ts';
import type { AnswerStore } from '../../delivery/answer-store.ts';
import type { NoteRead } from '../../delivery/confirm.ts';
import { createAnswerWorker, OTHER_SERVICE } from '../../delivery/worker.ts';
import type { Answer } from '../../domain/answer.ts';
import { WAITS_FOR_SERVICE_CODES } from '../../service/service.ts';
import type { SessionService } from '../../service/session-service.ts';
import type { HandlerContext } from '../../slack/context.ts';
import type { SessionStore } from '../../store/watched-sessions.ts';
import type { ViewStore } from '../../surfaces/view-store.ts';
import type { Drafting } from '../session/drafts.ts';
import type { OpenOptions, SessionFlow } from '../session/session-flow.ts';
import { registerAnswerActions } from './answer-actions.ts';
import { registerSubmission } from './submission.ts';

interface Parts {
	readonly flow: SessionFlow;
	readonly drafting: Drafting;
	readonly health: SessionService['health'];
	readonly noteRead: NoteRead;
	readonly nextOf: (answer: Answer) => Promise<OpenOptions | null>;
}

/** Delivers answers, and registers *Send answer* and the buttons of receipts. */
export function registerAnswer(
	core: HandlerContext<{ answers: AnswerStore; sessions: SessionStore; views: ViewStore }>,
	{ flow, drafting, health, nextOf, noteRead }: Parts,
) {
	const worker = createAnswerWorker(core, { policy: core.accessPolicy, missed: health.missed, noteRead });
	const answers = createAnswers(core);
	health.onRecovered(() => void answers.hasten([...WAITS_FOR_SERVICE_CODES]));
	const context = { ...core, flow, drafting, answers, nextOf };
	registerSubmission(context);
	registerAnswerActions(context);
	return {
		...worker,
		answers,
		/** Needs no Slack: stored answers are delivered even while Slack is unreachable. */
		async start(): Promise<void> {
			await answers.hasten([OTHER_SERVICE]);
			await answers.sendReadableAgain();
			worker.start();
		},
	};
}
