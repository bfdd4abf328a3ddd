import type { HomeView, ModalView } from '@slack/types';
import type { WebClient } from '@slack/web-api';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createManualClock } from '../../../fake-slack/index.ts';
import type { Person } from '../../../src/domain/person.ts';
import { snapshotOf } from '../../../src/domain/session-snapshot.ts';
import { HandraiseError } from '../../../src/kernel/errors.ts';
import { createLeaseLoop } from '../../../src/kernel/lease-loop.ts';
import { LOG_LINES } from '../../../src/kernel/log-lines.ts';
import { createRateLimiter } from '../../../src/kernel/rate-limiter.ts';
import { createInboxContent, type InboxContent } from '../../../src/screens/inbox-content.ts';
import type { Refusal } from '../../../src/slack/access-policy.ts';
import { homeOf, type InboxPlace, windowOf } from '../../../src/slack/request.ts';
import { createSpreading } from '../../../src/surfaces/marks.ts';
import { FOLLOWED_MS } from '../../../src/surfaces/view-plan-store.ts';
import { createViews } from '../../../src/surfaces/views.ts';
import { addWatch, assistant, openTestStore, pass, SERVICE, session, T0 } from '../../sessions/support.ts';
import { ANN, BOB, createRecordingLog } from '../../store/support.ts';
import { coreOf } from '../../support/core.ts';

const HOME = homeOf(ANN);

class ChannelsUnknown extends HandraiseError {
	constructor(retryAt: number | null) {
		super('no channels', { retryable: true, retryAt });
	}
}

const slackError = (error: string) =>
	Object.assign(new Error(error), { code: 'slack_webapi_platform_error', data: { error } });

/** One process or several on one store and one clock, with people whose screens are arrays. */
async function startInboxes({ processes = 1 } = {}) {
	const clock = createManualClock(T0);
	const store = await openTestStore();
	const log = createRecordingLog();
	const rateLimiter = createRateLimiter(clock);
	const counts = new Map<string, number>();
	const count = (name: string) => void counts.set(name, (counts.get(name) ?? 0) + 1);
	/** What was shown in each place, with its time. */
	const screens = new Map<string, { readonly at: number; readonly says: string }[]>();
	const slack = {
		error: null as Error | null,
		channels: new Set(['C1']) as ReadonlySet<string> | ChannelsUnknown,
		refusal: null as Refusal | null,
		asked: [] as string[],
		/** The process dies after Slack has taken a call. */
		dies: false,
	};

	function says(content: InboxContent): string {
		if (content.kind !== 'shown') return content.refusal ?? content.kind;
		const names = content.questions.map(({ sessionName }) => sessionName).join(', ');
		return `${content.total}: ${names}${content.channelsKnown ? '' : ' unknown'}`;
	}

	/** As Slack: shows what it takes, or says why not. */
	async function show(id: string, says: unknown): Promise<object> {
		count('send');
		if (slack.error !== null) throw slack.error;
		screens.set(id, [...(screens.get(id) ?? []), { at: clock.now() - T0, says: String(says) }]);
		if (slack.dies) throw new Error('died');
		return {};
	}

	const client = {
		views: {
			publish: ({ user_id, view }: { user_id: string; view: HomeView }) => {
				return show(homeOf({ teamId: 'T1', userId: user_id }).id, view.callback_id);
			},
			update: ({ view_id, view }: { view_id: string; view: ModalView }) => show(view_id, view.callback_id),
		},
	} as unknown as WebClient;

	function start() {
		const metrics = { inboxes: { update: count, built: () => count('built') } };
		const core = coreOf({
			store,
			serviceUrl: SERVICE,
			config: { QUICK_ANSWERS: true, ALLOWED_CHANNELS: [] },
			clients: { people: client, background: client },
			rateLimiter,
			metrics,
			clock,
			log,
		});
		const inboxes = createInboxContent(core, {
			waiting: async () => null,
			memberships: {
				async joinedOf(userId) {
					slack.asked.push(userId);
					if (slack.channels instanceof ChannelsUnknown) throw slack.channels;
					return slack.channels;
				},
				directChannelOf: async (userId) => `D${userId}`,
			},
			accessPolicy: {
				answering: async () => ({ failure: null, mayAnswer: () => true }),
				async checkAbsent(_, { channelId }) {
					count('check');
					return { refusal: channelId === 'C-NOT-ALLOWED' ? 'channel_not_allowed' : slack.refusal };
				},
			},
		});
		const views = createViews(
			core,
			{
				async inbox(due, now) {
					const { content, againAt } = await inboxes.build(due, now);
					const shown = says(content);
					const isRefused = content.kind === 'refused';
					const backAt = content.kind === 'shown' ? (content.snoozed?.nextAt ?? null) : null;
					const type = due.viewId === null ? 'home' : 'modal';
					const view = { type, callback_id: shown } as HomeView;
					const key = screenKeyWithoutAges ? shown : `${shown} ${Math.floor(now / 60_000)}`;
					return { view, key, againAt, backAt, isRefused };
				},
				form: () => null,
				receipt: () => Promise.reject(new Error('there is none')),
			},
			{ changedSessions: new Map(), onListed: () => {} },
		);
		const loop = createLeaseLoop(core, views);
		const spreading = createSpreading(core);
		loop.start();
		spreading.start();
		return { stop: async () => void (await Promise.all([loop.stop(), spreading.stop()])) };
	}

	const ask = (place: InboxPlace, page: number | null) => store.views.ask(place, page, clock.now());
	let screenKeyWithoutAges = true;
	const replicas = Array.from({ length: processes }, start);
	const [first] = replicas;
	if (first === undefined) throw new Error('no process');
	onTestFinished(async () => {
		await Promise.all(replicas.map((inboxes) => inboxes.stop()));
	});
	return {
		clock,
		store,
		log,
		slack,
		first,
		ask,
		/** Something changed that inboxes may show. */
		touch: () => store.views.markInboxes(clock.now()),
		forget: () => store.views.removeOld(clock.now()),
		start,
		count: (name: string) => counts.get(name) ?? 0,
		/** What was shown in this place so far. */
		screen: (id = HOME.id) => (screens.get(id) ?? []).map((shown) => shown.says),
		times: (id = HOME.id) => (screens.get(id) ?? []).map((shown) => shown.at),
		withAges() {
			screenKeyWithoutAges = false;
		},
		pass: (ms: number) => pass(clock, ms),
		/** Ann opens Home, and so much time passes. */
		async opens(ms: number): Promise<void> {
			await ask(HOME, 0);
			await pass(clock, ms);
		},
		async asks(sessionId: string, options: Parameters<typeof addWatch>[1] & { since?: number } = {}) {
			const { since = clock.now(), ...watch } = options;
			const asked = session({ sessionId, status: 'humanInput', messages: [assistant('Which?', 'Colour')] });
			return addWatch(store.watches, { sessionId, snapshot: snapshotOf(asked, since), createdAt: since, ...watch });
		},
	};
}

describe('an inbox', () => {
	it('is shown at once, and again as soon as something changed', async () => {
		const run = await startInboxes();
		await run.opens(200);
		expect(run.screen()).toEqual(['0: ']);
		await run.pass(10_000);
		await run.asks('s1');
		await run.touch();
		await run.pass(400);
		expect(run.screen()).toEqual(['0: ', '1: Session s1']);
	});

	it('is not sent again while it looks the same', async () => {
		const run = await startInboxes();
		await run.opens(10_000);
		await run.touch();
		await run.pass(10_000);
		expect(run.count('send')).toBe(1);
		await run.opens(5_000);
		expect(run.count('unchanged')).toBeGreaterThan(1);
		expect(run.count('send')).toBe(1);
	});

	it('follows a storm of changes every two seconds, and puts it together no more often', async () => {
		const run = await startInboxes();
		await run.opens(200);
		for (let second = 0; second < 30; second++) {
			await run.asks(`s${second}`);
			await run.touch();
			await run.pass(1_000);
		}
		expect(run.count('built')).toBeLessThanOrEqual(18);
		const gaps = run.times().map((at, index, all) => at - (all[index - 1] ?? Number.NEGATIVE_INFINITY));
		expect(Math.min(...gaps)).toBeGreaterThanOrEqual(2_000);
		await run.pass(4_000);
		expect(run.screen().at(-1)).toMatch(/^30: /);
	});

	it('follows changes and ages for ten minutes after its person opened it', async () => {
		const run = await startInboxes();
		run.withAges();
		await run.asks('s1');
		await run.opens(10 * 60_000);
		const shown = run.count('send');
		expect(shown).toBeGreaterThanOrEqual(9);
		expect(shown).toBeLessThanOrEqual(11);
		await run.asks('s2');
		await run.touch();
		await run.pass(5 * 60_000);
		expect(run.count('send')).toBe(shown);
		await run.forget();
		expect(await run.store.db.read.selectFrom('views').select('id').execute()).toEqual([]);
		await run.opens(200);
		expect(run.screen().at(-1)).toMatch(/^2: /);
	});

	it('shows a snoozed question again when its time comes, also in the last minute', async () => {
		const run = await startInboxes();
		await run.asks('s1');
		const [asked] = await run.store.inboxes.openQuestions(SERVICE, ANN.teamId);
		const session = { service: SERVICE, sessionId: 's1' };
		const until = T0 + FOLLOWED_MS - 10_000;
		await run.store.inboxes.snooze({ person: ANN, session, fingerprint: asked?.fingerprint ?? '', until });
		await run.opens(FOLLOWED_MS - 11_000);
		expect(run.screen()).toEqual(['0: ']);
		await run.pass(2_000);
		expect(run.screen()).toEqual(['0: ', '1: Session s1']);
	});

	it.each([false, true])('shows it again long after that, though Slack may be away (%s)', async (isAway) => {
		const run = await startInboxes();
		await run.asks('s1');
		await run.asks('s2');
		const open = await run.store.inboxes.openQuestions(SERVICE, ANN.teamId);
		const hours = { s1: 2, s2: 4 };
		for (const {
			question: { sessionId },
			fingerprint,
		} of open) {
			const until = T0 + hours[sessionId as keyof typeof hours] * 3_600_000;
			await run.store.inboxes.snooze({ person: ANN, session: { service: SERVICE, sessionId }, fingerprint, until });
		}
		await run.opens(3_600_000);
		await run.forget();
		if (isAway) run.slack.error = slackError('internal_error');
		await run.pass(3_600_000 - 60_000);
		expect(run.screen()).toEqual(['0: ']);
		const sent = run.count('send');
		await run.pass(120_000);
		run.slack.error = null;
		await run.pass(120_000);
		expect(run.screen()).toEqual(['0: ', '1: Session s1']);
		expect(run.count('send') - sent).toBeGreaterThan(isAway ? 3 : 0);
		await run.pass(2 * 3_600_000);
		expect(run.screen().at(-1)).toBe('2: Session s1, Session s2');
		await run.forget();
		expect(await run.store.db.read.selectFrom('views').select('id').execute()).toEqual([]);
	});

	it('is shown again when the process died before it noted what Slack shows', async () => {
		const run = await startInboxes();
		await run.opens(5_000);
		const watch = await run.asks('s1');
		run.slack.dies = true;
		await run.touch();
		await run.pass(500);
		expect(run.screen()).toEqual(['0: ', '1: Session s1']);
		await run.store.watches.end(watch.id, 'unwatched', { now: run.clock.now(), posts: [] });
		run.slack.dies = false;
		const next = run.start();
		onTestFinished(() => next.stop());
		await run.pass(30_000);
		expect(run.screen()).toEqual(['0: ', '1: Session s1', '0: ']);
	});

	it('is forgotten when Slack does not know its window, when it was closed, and when Slack refuses it four times', async () => {
		const run = await startInboxes();
		const window = windowOf(ANN, 'V1');
		const rows = async () => (await run.store.db.read.selectFrom('views').select('id').execute()).map(({ id }) => id);
		for (const error of ['not_found', 'invalid_arguments']) {
			run.slack.error = slackError(error);
			await run.ask(window, 0);
			await run.pass(60_000);
			expect(await rows()).toEqual([]);
		}
		expect(run.log.lines.filter(({ message }) => message === LOG_LINES.view_not_shown)).toHaveLength(4);
		run.slack.error = null;
		await run.ask(window, 0);
		await run.pass(1_000);
		await run.store.views.remove(window);
		expect(await rows()).toEqual([]);
	});
});

describe('when Slack fails', () => {
	it('tries again, later and later, until it works', async () => {
		const run = await startInboxes();
		run.slack.error = slackError('internal_error');
		await run.opens(60_000);
		expect(run.count('send')).toBeGreaterThanOrEqual(4);
		expect(run.count('send')).toBeLessThanOrEqual(6);
		run.slack.error = null;
		await run.pass(70_000);
		expect(run.screen()).toEqual(['0: ']);
	});

	it('calls nothing for the workspace as long as Slack asks for after a 429', async () => {
		const run = await startInboxes();
		run.slack.error = Object.assign(new Error('limited'), { code: 'slack_webapi_rate_limited_error', retryAfter: 30 });
		await run.opens(1_000);
		run.slack.error = null;
		await run.ask(homeOf(BOB), 0);
		await run.pass(28_000);
		expect(run.count('send')).toBe(1);
		await run.pass(4_000);
		expect(run.screen()).toEqual(['0: ']);
		expect(run.screen(homeOf(BOB).id)).toEqual(['0: ']);
	});

	it('pauses the workspace only for as long as Slack asks, after failures of one inbox', async () => {
		const run = await startInboxes();
		run.slack.error = slackError('internal_error');
		await run.opens(31_000);
		expect(run.count('send')).toBe(5);
		run.slack.error = Object.assign(new Error('limited'), { code: 'slack_webapi_rate_limited_error', retryAfter: 3 });
		await run.pass(32_000);
		expect(run.count('send')).toBe(6);
		run.slack.error = null;
		await run.ask(homeOf(BOB), 0);
		await run.pass(4_000);
		expect(run.screen(homeOf(BOB).id)).toEqual(['0: ']);
	});

	it('says that it could not check who somebody is, when that takes long', async () => {
		const run = await startInboxes();
		run.slack.refusal = 'could_not_check';
		await run.opens(14_000);
		expect(run.screen()).toEqual(['could_not_check']);
		run.slack.refusal = null;
		await run.pass(5_000);
		expect(run.screen()).toEqual(['could_not_check', '0: ']);
	});

	it('says at once what it waits for when somebody opens it again', async () => {
		const run = await startInboxes();
		run.slack.refusal = 'could_not_check';
		await run.opens(4_000);
		expect(run.screen()).toEqual([]);
		await run.opens(1_000);
		expect(run.screen()).toEqual(['could_not_check']);
	});

	it('asks ever more rarely who somebody is, when that stays unknown', async () => {
		const run = await startInboxes();
		run.slack.refusal = 'could_not_check';
		await run.opens(FOLLOWED_MS + 10 * 60_000);
		const before = run.count('check');
		await run.pass(60 * 60_000);
		expect(run.count('check') - before).toBeLessThanOrEqual(30);
	});

	it('shows at once what somebody did in it, although their channels are not known at the moment', async () => {
		const run = await startInboxes();
		await run.opens(5_000);
		run.slack.channels = new ChannelsUnknown(T0 + 60_000);
		await run.asks('s1');
		await run.asks('own', { channelId: `D${ANN.userId}` });
		await run.opens(2_000);
		expect(run.screen()).toEqual(['0: ', '1: Session own unknown']);
	});

	it('shows what it can without the channels, and asks for them when Slack says', async () => {
		const run = await startInboxes();
		run.slack.channels = new ChannelsUnknown(T0 + 20_000);
		await run.asks('s1');
		await run.asks('own', { channelId: `D${ANN.userId}` });
		await run.opens(19_000);
		expect(run.screen()).toEqual(['1: Session own unknown']);
		run.slack.channels = new Set(['C1']);
		await run.pass(2_000);
		expect(run.screen().at(-1)).toBe('2: Session own, Session s1');
	});
});

describe('the rate of a workspace', () => {
	const people = (count: number): Person[] =>
		Array.from({ length: count }, (_, index) => ({ teamId: 'T1', userId: `U${index}` }));

	it('stays at about ninety calls a minute, and shows everybody the newest state', async () => {
		const run = await startInboxes();
		const many = people(150);
		for (const person of many) await run.ask(homeOf(person), 0);
		await run.pass(60_000);
		expect(run.count('send')).toBeLessThanOrEqual(99);
		expect(run.count('send')).toBeGreaterThanOrEqual(85);
		await run.asks('s1');
		await run.touch();
		await run.pass(5 * 60_000);
		for (const person of many) expect(run.screen(homeOf(person).id).at(-1)).toBe('1: Session s1');
	});

	it('leaves room for whoever opens theirs while many follow', async () => {
		const run = await startInboxes();
		const many = people(60);
		for (const person of many) await run.ask(homeOf(person), 0);
		await run.pass(90_000);
		await run.asks('s1');
		await run.touch();
		await run.pass(9_000);
		const opened = { teamId: 'T1', userId: 'U-NEW' };
		await run.ask(homeOf(opened), 0);
		await run.pass(400);
		expect(run.screen(homeOf(opened).id)).toEqual(['1: Session s1']);
		expect(many.filter((person) => run.screen(homeOf(person).id).length < 2).length).toBeGreaterThan(20);
	});
});
