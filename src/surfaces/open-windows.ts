import type { Core } from '../core.ts';
import type { AnswerStore } from '../delivery/answer-store.ts';
import type { WindowStore } from '../delivery/answering-store.ts';
import type { Session, SessionKey } from '../domain/session.ts';
import { backOff, codeOf, createFailures } from '../kernel/basics.ts';
import { createLeaseLoop } from '../kernel/lease-loop.ts';
import { noticedView } from '../screens/answer.ts';
import { slackOutcome } from '../slack/clients.ts';
import { addressOf, createViewHandle } from '../slack/reply.ts';

type OpenWindow = Awaited<ReturnType<WindowStore['takeDue']>>[number];

const RETRY = { firstMs: 2_000, longestMs: 60_000 } as const;
/** A window whose update Slack refuses is tried this often, and then left. */
const REFUSED_TRIES = 4;

/**
 * Tells people whose window shows a question that somebody answered it, that it changed or that its session ended. A
 * window is a row for 15 minutes; an answer or anybody's read makes it due. Slack keeps what was typed, as all ids
 * stay.
 */
export function createOpenWindows(
	core: Pick<Core<{ answers: AnswerStore; windows: WindowStore }>, 'clock' | 'log' | 'clients' | 'store'>,
) {
	const { clock, log, clients } = core;
	const { answers, windows } = core.store;
	const failures = createFailures();
	/** The newest read of each session from which the store has not yet learned for its windows. */
	const unlearned = new Map<string, readonly [SessionKey, Session]>();

	async function tell(window: OpenWindow, token: string): Promise<void> {
		const answer = await answers.standing(window);
		// From what is stored: an answer that is taken back takes its notice with it.
		const by = answer?.fingerprint === window.fingerprint ? answer.person.userId : null;
		const { key: notice, view } = noticedView(window.view, window.userId, by, window.learned);
		if (view === null || notice === window.notice) return windows.end(window, token, {});
		const handle = createViewHandle(clients.people, addressOf(window.viewId, window.hash));
		try {
			const outcome = await handle.update(view);
			failures.end(window.viewId);
			if (outcome === 'gone') await windows.forget(window.viewId);
			// One with other content by now is left as it is.
			else await windows.end(window, token, outcome === 'updated' ? { notice, hash: handle.hash } : {});
		} catch (error) {
			const failure = slackOutcome(error);
			log.warn('window_not_told', { code: failure.code });
			const count = failures.add(window.viewId);
			if (failure.kind === 'refused' && count >= REFUSED_TRIES) return void (await windows.forget(window.viewId));
			const asked = failure.kind === 'later' ? failure.ms : null;
			const waitMs = Math.max(backOff(count, RETRY), backOff(count, RETRY, asked));
			await windows.end(window, token, {}, clock.now() + waitMs);
		}
	}

	/** While the store fails, the loop tries again: a later read of an unchanged session tells of nothing. */
	async function learn(): Promise<void> {
		for (const [id, read] of unlearned) {
			try {
				await windows.learn(...read, clock.now());
			} catch (error) {
				log.warn('window_news_not_stored', { code: codeOf(error) });
				if (codeOf(error) === 'store_unavailable') throw error;
			}
			if (unlearned.get(id) === read) unlearned.delete(id);
		}
	}

	const loop = createLeaseLoop<OpenWindow>(core, {
		itemsName: 'open windows',
		rows: windows.rows,
		concurrency: 6,
		prepare: learn,
		take: (lease, room) => windows.takeDue(lease, room, clock.now()),
		nextDueAt: () => windows.nextDueAt(clock.now()),
		work: tell,
		release: (held) => windows.release(held.map(({ token }) => token)),
	});

	return {
		/** Somebody read this session, and it is another than before. */
		sessionRead(key: SessionKey, session: Session): void {
			unlearned.set(session.sessionId, [key, session]);
			loop.wake();
		},
		start: loop.start,
		stop: loop.stop,
	};
}
