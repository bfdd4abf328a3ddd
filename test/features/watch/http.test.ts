import { expect, it, onTestFinished, vi } from 'vitest';
import { asking, done, task } from '../../../sandbox/session-service/builders.ts';
import { createFakeSessionService } from '../../../sandbox/session-service/fake-session-service.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { createPoller } from '../../../src/features/watch/poller.ts';
import { createSubscriptions } from '../../../src/features/watch/subscribe.ts';
import { createRequestBudget } from '../../../src/session-service/budget.ts';
import { createSessionServiceClient } from '../../../src/session-service/client.ts';
import { createServiceHealth } from '../../../src/session-service/health.ts';
import { createRecordingLog } from '../../database/support.ts';
import { coreOf } from '../../support/core.ts';
import { createRecordingMetrics, NO_ANSWERS, NO_LIMITS, openTestStore } from './support.ts';

it('watches a service over HTTP: finds a question, reads unchanged sessions with a 304, and gets no 429', async () => {
	const service = createFakeSessionService();
	await service.start();
	onTestFinished(() => service.stop());
	const budget = createRequestBudget({ clock: systemClock });
	const log = createRecordingLog();
	const client = createSessionServiceClient({
		baseUrl: service.url,
		apiKey: () => 'sandbox-key',
		log,
		clock: systemClock,
		budget,
	});
	onTestFinished(() => client.close());
	const store = (await openTestStore()).watches;
	const { metrics } = createRecordingMetrics();
	const core = coreOf({
		store: { watches: store },
		sessionService: client,
		serviceUrl: service.url,
		config: { watchLimits: NO_LIMITS, WATCH_MAX_DAYS: 7 },
		metrics: { watches: metrics },
		clock: systemClock,
		log,
	});
	const subscriptions = createSubscriptions(core, {
		budget: budget.background,
		...NO_ANSWERS,
		onChange: () => {},
	});
	for (const sessionId of ['s1', 's2', 's3']) {
		service.sessions.put(sessionId, { status: 'active', name: sessionId, messages: [task('Do it'), done('Looking')] });
		const read = (id: string) => client.read(id, { priority: 'person' });
		const where = { teamId: 'T1', channelId: 'C1', userId: 'U1' };
		expect(await subscriptions.watch({ ...where, sessionId, read, settings: {} })).toMatchObject({ kind: 'watching' });
	}

	const health = createServiceHealth({ clock: systemClock });
	const poller = createPoller(core, {
		budget: budget.background,
		health,
		...NO_ANSWERS,
		onNews: () => {},
		onQuestions: () => {},
		onEnd: () => {},
	});
	poller.start();
	await vi.waitFor(() => expect(service.log.list().filter(({ status }) => status === 304).length).toBeGreaterThan(3), {
		timeout: 20_000,
	});
	service.sessions.push('s2', asking('Which?', ['Colour']));
	service.sessions.setStatus('s2', 'humanInput');
	const seen = await vi.waitFor(
		async () => {
			const due = await store.takePosts({ token: 'test', ms: 1 }, 100, Date.now());
			for (const { post } of due) {
				const shown = { kind: 'shown', ts: '1.0', key: 'x', isLast: false } as const;
				await store.endAttempt(post, 'test', shown, Date.now());
			}
			const question = due.find(({ post }) => post.content.kind === 'question');
			expect(question).toBeDefined();
			return question;
		},
		{ timeout: 20_000 },
	);
	expect(seen?.watch?.session.sessionId).toBe('s2');
	await poller.stop();
	expect(service.log.list().filter(({ status }) => status === 429)).toEqual([]);
	expect(service.log.list().some(({ ifNoneMatch, status }) => ifNoneMatch !== null && status === 200)).toBe(true);
});
