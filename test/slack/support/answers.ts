import type { Answer, AnswerItem } from '../../../src/answers/answer.ts';

export const now = Date.parse('2026-11-20T08:40:00Z');

export function item(title: string, value: string | null, more: Partial<AnswerItem> = {}): AnswerItem {
	return { title, value, secret: false, wiped: false, ...more };
}

/** An answer to session 3f9a2c1d, saved a minute ago in a thread, not sent yet. */
export function answerOf(more: Partial<Answer> = {}): Answer {
	return {
		id: 'answer-1',
		submissionKey: 'V1:form-1',
		viewId: 'V1',
		person: { teamId: 'T1', userId: 'U0OURS1' },
		question: { service: 'https://service.example', sessionId: '3f9a2c1d', messageIndex: 3 },
		fingerprint: '0123456789abcdef',
		content: { kind: 'readable', items: [item('Hall', 'The <garden>\nplease')], other: null },
		leftEmpty: [],
		origin: { channelId: 'C1', threadTs: '1.2' },
		state: 'accepted',
		attempts: 0,
		editCount: 0,
		acceptedAt: now - 60_000,
		giveUpAt: now + 86_400_000,
		nextAttemptAt: null,
		putStartedAt: null,
		before: null,
		deliveredAt: null,
		agentOutcome: null,
		endedAt: null,
		lastError: null,
		timeline: [{ state: 'accepted', at: now - 60_000 }],
		receiptState: { state: null, agentOutcome: null, dm: null, modalOpen: true },
		notBefore: null,
		missingCount: 0,
		startFailed: false,
		restartAskedAt: null,
		...more,
	};
}
