import type { Clock } from '../../clock.ts';
import type { Subscriptions } from '../../watches/subscribe.ts';
import { errorMessage, outcomesMessage, stillWaitingMessage } from '../blocks/messages.ts';
import { LIST_PAGE, watchList } from '../blocks/watch-list.ts';
import type { Channels } from '../channels.ts';
import { codeOf } from '../error-code.ts';
import { withNotes } from '../long-wait.ts';
import type { Reply } from '../reply.ts';
import type { PersonRequest } from '../request.ts';
import { oneLineMrkdwn } from '../text.ts';
import { channelRefusalWords, expectationWords, watchOutcomeWords } from '../words.ts';
import type { SessionCommand, WatchOptions } from './parse.ts';

interface Dependencies {
	readonly subscriptions: Subscriptions;
	readonly channels: Channels;
	readonly reply: Reply;
	readonly adminContact: string | null;
	readonly clock: Clock;
}

/** `/session watch|unwatch|list`, and the buttons that do the same; whoever asks has been found to be allowed. */
export function createWatchCommands({ subscriptions, channels, reply, adminContact, clock }: Dependencies) {
	const error = { kept: 'nothing', adminContact } as const;

	async function say(request: PersonRequest, lines: readonly string[], note = ''): Promise<void> {
		await reply.toPerson(request, outcomesMessage(lines, note));
	}

	async function watch(
		request: PersonRequest,
		channelId: string | null,
		sessionIds: readonly string[],
		options: WatchOptions,
	): Promise<void> {
		const verdict = await channels.mayWatch(channelId, request.person.userId);
		if (!verdict.ok || channelId === null) {
			await say(request, [channelRefusalWords(verdict.ok ? 'no_channel' : verdict.reason, adminContact)]);
			return;
		}
		const work = subscribe(request, channelId, sessionIds, options);
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
		request: PersonRequest,
		channelId: string,
		sessionIds: readonly string[],
		options: WatchOptions,
	): Promise<readonly string[]> {
		const { teamId, userId } = request.person;
		const lines: string[] = [];
		let slow = '';
		for (const sessionId of sessionIds) {
			const outcome = await subscriptions.watch({
				teamId,
				channelId,
				userId,
				sessionId,
				...(options.questionsOnly === null ? {} : { mode: options.questionsOnly ? 'questionsOnly' : 'everything' }),
				...(options.questionsInChannel === null ? {} : { questionsInChannel: options.questionsInChannel }),
			});
			request.log.info({ session: sessionId, outcome: outcome.kind }, 'watch');
			lines.push(watchOutcomeWords(sessionId, outcome, error));
			// Once, and as it is after the last of them.
			if (outcome.kind === 'watching') slow = expectationWords(outcome.expectation);
		}
		return slow === '' ? lines : [...lines, slow];
	}

	async function unwatch(
		request: PersonRequest,
		channelId: string | null,
		sessionIds: readonly string[] | 'all',
	): Promise<void> {
		const { teamId } = request.person;
		if (channelId === null) return say(request, [channelRefusalWords('no_channel', adminContact)]);
		if (sessionIds === 'all') {
			const outcome = await subscriptions.unwatch({ teamId, channelId, sessionId: null });
			const count = outcome.kind === 'ended' ? outcome.watches.length : 0;
			const words =
				count === 0
					? 'This channel watches no session.'
					: `👋 ${count === 1 ? 'One session is' : `${count} sessions are`} not watched here any more.`;
			return say(request, [words]);
		}
		const lines: string[] = [];
		for (const sessionId of sessionIds) {
			const outcome = await subscriptions.unwatch({ teamId, channelId, sessionId });
			const name = `*${oneLineMrkdwn(sessionId, 100)}*`;
			lines.push(
				outcome.kind === 'ended' ? `👋 ${name} is not watched here any more.` : `${name} is not watched here.`,
			);
		}
		return say(request, lines);
	}

	/** `turned`: another page in the place of the one whose button was pressed. */
	async function list(request: PersonRequest, offset: number, turned: boolean): Promise<void> {
		const { channelId, person } = request;
		if (channelId === null) return say(request, [channelRefusalWords('no_channel', adminContact)]);
		const page = await subscriptions.list({ teamId: person.teamId, channelId }, { offset, limit: LIST_PAGE });
		const content = watchList(page, offset);
		if (turned && (await reply.inPlace(request, content))) return;
		await reply.toPerson(request, content);
	}

	return {
		watch,
		unwatch,
		list,
		async run(
			request: PersonRequest,
			command: Extract<SessionCommand, { kind: 'watch' | 'unwatch' | 'list' }>,
		): Promise<void> {
			try {
				if (command.kind === 'watch') await watch(request, request.channelId, command.sessionIds, command.options);
				else if (command.kind === 'unwatch') await unwatch(request, request.channelId, command.sessionIds);
				else await list(request, 0, false);
			} catch (failed) {
				await reply.toPerson(request, errorMessage(codeOf(failed), null, error));
				throw failed;
			}
		},
	};
}

export type WatchCommands = ReturnType<typeof createWatchCommands>;
