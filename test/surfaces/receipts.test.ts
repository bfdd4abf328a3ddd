import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
	createFakeSlack,
	createManualClock,
	type FakeSlack,
	type ManualClock,
	type Posted,
} from '../../fake-slack/index.ts';
import type { Answer } from '../../src/domain/answer.ts';
import { receiptExplanation } from '../../src/screens/receipt.ts';
import { createDirectChannels, createSlackClients } from '../../src/slack/clients.ts';
import { createMessages } from '../../src/surfaces/messages.ts';
import { createReceipts } from '../../src/surfaces/receipts.ts';
import { answerOf } from '../slack/support/answers.ts';
import { createRecordingLog } from '../store/support.ts';
import { coreOf } from '../support/core.ts';
import { headline, line } from '../support/sentences.ts';

const ACCEPTED_AT = Date.parse('2026-11-20T08:40:00Z');
const LONG_MS = 30_000;

let slack: FakeSlack;
let clock: ManualClock;
let receipts: ReturnType<typeof createReceipts>;
beforeAll(async () => {
	slack = await createFakeSlack();
});
afterAll(() => slack.close());
beforeEach(() => {
	slack.faults.clear();
	slack.state.messages = [];
	clock = createManualClock(ACCEPTED_AT + LONG_MS);
	const log = createRecordingLog();
	const slackConfig = { apiUrl: slack.apiUrl, botToken: () => slack.tokens.bot };
	const clients = createSlackClients(slackConfig, log, () => {});
	const directChannelOf = createDirectChannels(clients.people, clock);
	const config = { SHOW_ANSWERS: 'auto' as const, ADMIN_CONTACT: null };
	const answers = { get: async () => null, noteDm: async () => [] };
	const core = { ...coreOf({ clients, directChannelOf, config, clock, log }), store: { answers } };
	receipts = createReceipts(core, createMessages(core), async () => null);
});

const dm = (): Posted[] => slack.as('ada').dm();

/** An answer of Ada's, saved half a minute ago; its modal is closed. */
function adasAnswer(more: Partial<Answer> = {}): Answer {
	return answerOf({
		person: { teamId: 'T0ACME', userId: 'U0ADA' },
		acceptedAt: ACCEPTED_AT,
		receiptState: { state: 'accepted', agentOutcome: null, dm: null, modalOpen: false },
		...more,
	});
}

/** Sends the receipt and returns the answer with its new receipt state. */
async function tell(answer: Answer): Promise<Answer> {
	const { receiptState } = await receipts.tell(answer, new AbortController().signal);
	return { ...answer, receiptState };
}

describe('an answer that is not delivered after half a minute', () => {
	it.each(['accepted', 'delivering'] as const)(
		'tells an undelivered answer in a direct message after half a minute while it is %s',
		async (state) => {
			const { receiptState } = await tell(adasAnswer({ state }));
			expect(dm().map((message) => message.ts)).toEqual([receiptState.dm?.ts]);
			expect(dm()[0]?.notification()).toContain(line(state));
			expect(dm()[0]?.text()).toContain(
				receiptExplanation(adasAnswer({ state }), { adminContact: null, now: Date.now() }),
			);
		},
	);

	it('sends no direct message just before half a minute has passed', async () => {
		await tell(adasAnswer({ acceptedAt: ACCEPTED_AT + 1 }));
		expect(dm()).toEqual([]);
	});

	it('sends one message when two receipts are told at the same moment', async () => {
		const release = slack.faults.hold('chat.postMessage');
		const both = [tell(adasAnswer()), tell(adasAnswer({ lastError: 'timed_out' }))];
		await slack.changes.until(
			() => slack.traffic.calls('chat.postMessage').some(({ doneAt }) => doneAt === null),
			() => 'Nothing is being posted.',
		);
		release();
		const [first, second] = await Promise.all(both);
		expect(dm()).toHaveLength(1);
		expect(second?.receiptState).toEqual(first?.receiptState);
		expect(dm()[0]?.text()).toContain(headline('accepted', { lastError: 'timed_out' }));
	});

	it('updates one message with the failure and with the delivery', async () => {
		const saved = await tell(adasAnswer());
		const failed = await tell({ ...saved, lastError: 'unavailable' });
		expect(dm()[0]?.text()).toContain(headline('accepted', { lastError: 'unavailable' }));
		await tell({ ...failed, state: 'delivered', lastError: null, deliveredAt: clock.now() });
		expect(dm().map((message) => message.notification())).toEqual([expect.stringContaining(line('delivered'))]);
	});
});

it('returns the wait that Slack names when Slack limits a receipt', async () => {
	slack.faults.rateLimit('chat.postMessage', { retryAfter: 7 });
	const answer = adasAnswer({ lastError: 'unavailable' });
	const telling = await receipts.tell(answer, new AbortController().signal);
	expect(telling).toEqual({ receiptState: answer.receiptState, againAfterMs: 7_000 });
	expect(dm()).toEqual([]);
});

describe('a receipt message that can not be updated any more', () => {
	it.each(['message_not_found', 'cant_update_message', 'channel_not_found', 'edit_window_closed'])(
		'since Slack says %s is replaced by one that is updated from then on',
		async (error) => {
			const saved = await tell(adasAnswer({ lastError: 'unavailable' }));
			slack.faults.add({ method: 'chat.update', error, when: ({ ts }) => ts === saved.receiptState.dm?.ts });
			const waiting = await tell({ ...saved, state: 'waiting' });
			expect(waiting.receiptState).toMatchObject({ state: 'waiting', dm: { ts: dm()[1]?.ts } });
			const withdrawn = await tell({ ...waiting, state: 'withdrawn' });
			expect(withdrawn.receiptState).toMatchObject({ state: 'withdrawn', dm: waiting.receiptState.dm });
			expect(dm()).toHaveLength(2);
			expect(dm()[1]?.text()).toContain(headline('withdrawn'));
		},
	);

	it('does not replace a lost receipt message without news', async () => {
		const saved = await tell(adasAnswer({ lastError: 'unavailable' }));
		dm()[0]?.remove();
		const again = await tell({ ...saved, lastError: 'timed_out' });
		expect(dm()).toEqual([]);
		expect(again.receiptState.state).toBe('accepted');
		await tell({ ...again, state: 'waiting' });
		expect(dm()).toHaveLength(1);
	});

	it('replaces a lost receipt message once when the store fails to save the new one', async () => {
		const saved = await tell(adasAnswer({ lastError: 'unavailable' }));
		dm()[0]?.remove();
		const first = await tell({ ...saved, state: 'waiting' });
		const second = await tell({ ...saved, state: 'waiting' });
		expect(second.receiptState).toEqual(first.receiptState);
		expect(dm()).toHaveLength(1);
	});

	it('does not replace a receipt message while Slack fails', async () => {
		const saved = await tell(adasAnswer({ lastError: 'unavailable' }));
		slack.faults.add({ method: 'chat.update', error: 'internal_error', times: 1 });
		const waiting = await tell({ ...saved, state: 'waiting' });
		expect(waiting.receiptState).toEqual(saved.receiptState);
		await tell(waiting);
		expect(dm().map((message) => message.notification())).toEqual([
			expect.stringContaining('Not delivered: your decision'),
		]);
	});
});
