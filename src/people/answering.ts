import { createAnswers } from '../delivery/accept.ts';
import type { AnswerStore } from '../delivery/answer-store.ts';
import type { NoteRead } from '../delivery/confirm.ts';
import { createAnswerWorker, OTHER_SERVICE } from '../delivery/worker.ts';
import type { Answer } from '../domain/answer.ts';
import type { Person } from '../domain/session.ts';
import { REASONS } from '../service/service.ts';
import type { SessionService } from '../service/session-service.ts';
import type { HandlerContext } from '../slack/context.ts';
import type { SessionStore } from '../store/watch-store.ts';
import { createReceipts } from '../surfaces/receipts.ts';
import type { PostStore } from '../surfaces/store.ts';
import { registerAnswerActions } from './answer-actions.ts';
import type { Drafting, Forms, Wish } from './drafts.ts';
import { registerSubmission } from './submission.ts';

interface Parts {
	readonly flow: Forms;
	readonly drafting: Drafting;
	readonly health: SessionService['health'];
	readonly noteRead: NoteRead;
	readonly inboxes: { next(person: Person, exceptSessionId: string): Promise<Wish | null> };
}

/** Delivers answers, tells their authors, and registers *Send answer* and the buttons of receipts. */
export function registerAnswer(
	core: HandlerContext<{ answers: AnswerStore; sessions: SessionStore; posts: PostStore }>,
	{ flow, drafting, health, inboxes, noteRead }: Parts,
) {
	const { accessPolicy, installation } = core;
	const nextOf = ({ person, question }: Answer) => inboxes.next(person, question.sessionId);
	const receipts = createReceipts(core, nextOf);
	const worker = createAnswerWorker(core, {
		policy: accessPolicy,
		missed: health.missed,
		noteRead,
		receipts,
		isOurs: ({ teamId }) => teamId === installation.known()?.teamId,
	});
	const answers = createAnswers(core);
	health.onRecovered(() => void answers.hasten([...REASONS]));
	const context = { ...core, flow, drafting, answers, receipts };
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
