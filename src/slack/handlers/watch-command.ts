import { loggedId } from '../../log.ts';
import type { Subscriptions, WatchOutcome, WatchRequest } from '../../watches/subscribe.ts';
import { outcomesMessage, stillWaitingMessage } from '../blocks/messages.ts';
import { LIST_PAGE, watchList } from '../blocks/watch-list.ts';
import type { Channels } from '../channels.ts';
import { codeOf } from '../clients.ts';
import { type ReadPermit, TooFastError } from '../person-reads.ts';
import { logAccess, type PersonRequest } from '../request.ts';
import { withNotes } from '../session/waiting.ts';
import type { AllowedRequest } from '../task.ts';
import { channelRefusalWords, expectationWords, sessionIdMrkdwn, tooFastWords, watchOutcomeWords } from '../words.ts';
import type { HandlerContext } from './context.ts';
import type { WatchOptions } from './session-command.ts';

const AS_IT_IS: WatchOptions = { questionsOnly: null, questionsInChannel: null };

/**
 * `/session watch|unwatch|list`, and the buttons that do the same, in the channel of the request; whoever asks has been
 * found to be allowed.
 */
export function createWatchCommands(
	{ personReads, reply, adminContact, clock }: HandlerContext,
	{ subscriptions, channels }: { subscriptions: Subscriptions; channels: Channels },
) {
	const error = { kept: 'nothing', adminContact } as const;

	async function say(request: PersonRequest, lines: readonly string[], note = ''): Promise<void> {
		await reply.toPerson(request, outcomesMessage(lines, note));
	}

	async function watch(
		request: AllowedRequest,
		sessionIds: readonly string[],
		options: WatchOptions = AS_IT_IS,
	): Promise<void> {
		const { channelId } = request;
		let permit: ReadPermit;
		try {
			// Before Slack is asked about the channel, which it allows all people together only so often.
			permit = await personReads.permit(request);
		} catch (failed) {
			if (!(failed instanceof TooFastError)) throw failed;
			logAccess(request, 'watch', sessionIds[0] ?? null, failed.code);
			await reply.slowDown(request, failed, outcomesMessage([tooFastWords(sessionIds, failed, error)]));
			return;
		}
		const verdict = await channels.mayWatch(channelId, request.person.userId);
		if (!verdict.ok || channelId === null) {
			const reason = verdict.ok ? 'no_channel' : verdict.reason;
			for (const sessionId of sessionIds) logAccess(request, 'watch', sessionId, reason);
			await say(request, [channelRefusalWords(reason, adminContact)]);
			return;
		}
		const work = subscribe({ ...request, channelId }, permit, sessionIds, options);
		const lines = await withNotes(clock, work, async () => {
			await reply.toPerson(request, stillWaitingMessage(null));
			return false;
		});
		const note =
			'`--questions-only` posts questions and answers only; `--thread-only` keeps questions out of the channel.';
		await say(request, lines, lines.length === 1 && lines[0]?.startsWith('👀') ? note : '');
	}

	/** What is to be said of each session. */
	async function subscribe(
		request: PersonRequest & { readonly channelId: string },
		first: ReadPermit,
		sessionIds: readonly string[],
		options: WatchOptions,
	): Promise<readonly string[]> {
		const lines: string[] = [];
		let slow = '';
		for (const [index, sessionId] of sessionIds.entries()) {
			let permit = first;
			try {
				if (index > 0) permit = await personReads.permit(request);
			} catch (failed) {
				if (!(failed instanceof TooFastError)) throw failed;
				logAccess(request, 'watch', sessionId, failed.code);
				lines.push(tooFastWords(sessionIds.slice(index), failed, error));
				break;
			}
			const wish: WatchRequest = {
				...request.person,
				channelId: request.channelId,
				sessionId,
				read: permit.read,
				...(options.questionsOnly === null ? {} : { mode: options.questionsOnly ? 'questionsOnly' : 'everything' }),
				...(options.questionsInChannel === null ? {} : { questionsInChannel: options.questionsInChannel }),
			};
			// What fails for one session is said of that one: what became of the others is so all the same.
			const outcome = await subscriptions.watch(wish).catch((failed: unknown): WatchOutcome => {
				const code = codeOf(failed);
				request.log.error({ session: loggedId(sessionId), code, err: failed }, 'a session could not be watched');
				return { kind: 'unreadable', code, retryable: true };
			});
			logAccess(request, 'watch', sessionId, outcomeWord(outcome));
			lines.push(watchOutcomeWords(sessionId, outcome, error));
			// Once, and as it is after the last of them.
			if (outcome.kind === 'watching') slow = expectationWords(outcome.expectation);
		}
		return slow === '' ? lines : [...lines, slow];
	}

	async function unwatch(request: PersonRequest, sessionIds: readonly string[] | 'all'): Promise<void> {
		const { channelId } = request;
		const { teamId } = request.person;
		if (channelId === null) return say(request, [channelRefusalWords('no_channel', adminContact)]);
		if (sessionIds === 'all') {
			const outcome = await subscriptions.unwatch({ teamId, channelId, sessionId: null });
			const count = outcome.kind === 'ended' ? outcome.watches.length : 0;
			logAccess(request, 'unwatch', null, outcome.kind);
			const words =
				count === 0
					? 'This channel watches no session.'
					: `👋 ${count === 1 ? 'One session is' : `${count} sessions are`} not watched here any more.`;
			return say(request, [words]);
		}
		const lines: string[] = [];
		for (const sessionId of sessionIds) {
			const outcome = await subscriptions.unwatch({ teamId, channelId, sessionId });
			logAccess(request, 'unwatch', sessionId, outcome.kind);
			const name = `*${sessionIdMrkdwn(sessionId)}*`;
			lines.push(
				outcome.kind === 'ended' ? `👋 ${name} is not watched here any more.` : `Session ${name} is not watched here.`,
			);
		}
		return say(request, lines);
	}

	/** `isTurned`: another page in the place of the one whose button was pressed. */
	async function list(request: AllowedRequest, offset: number, isTurned = false): Promise<void> {
		const { channelId, person } = request;
		if (channelId === null) return say(request, [channelRefusalWords('no_channel', adminContact)]);
		const page = await subscriptions.list({ teamId: person.teamId, channelId }, { offset, limit: LIST_PAGE });
		const content = watchList(page, offset);
		logAccess(request, 'list', null, 'shown');
		if (isTurned && (await reply.inPlace(request, content))) return;
		await reply.toPerson(request, content);
	}

	return { watch, unwatch, list };
}

export type WatchCommands = ReturnType<typeof createWatchCommands>;

/** For the log. */
function outcomeWord(outcome: WatchOutcome): string {
	if (outcome.kind === 'unreadable') return outcome.code;
	return outcome.kind === 'limit' ? `limit_${outcome.limit}` : outcome.kind;
}
