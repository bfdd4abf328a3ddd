import { expect, it } from 'vitest';
import { createManualClock } from '../../fake-slack/index.ts';
import { createPersonReads } from '../../src/slack/person-reads.ts';
import type { PersonRequest } from '../../src/slack/request.ts';
import { createRecordingLog } from '../store/support.ts';
import { coreOf } from '../support/core.ts';

const request = (userId: string): PersonRequest => ({
	person: { teamId: 'T1', userId },
	requestId: 'r',
	claimedTeamId: null,
	channelId: 'C1',
	threadTs: null,
	messageTs: null,
	postKey: null,
	isInThread: false,
	isPress: false,
	isCommand: false,
	triggerId: null,
	responseUrl: null,
	log: createRecordingLog(),
});

it.each([
	['fails', () => Promise.reject(new Error('the database does not respond'))],
	['does not respond', () => new Promise<never>(() => undefined)],
])('a process limits by itself while the shared rate limiter %s', async (_, take) => {
	const reads = createPersonReads(
		coreOf({
			sessionService: { read: () => Promise.reject(new Error('this test reads no session')) },
			rateLimiter: { take, charge: take },
			config: { personReads: { burst: 2, perMinute: 20 } },
			clock: createManualClock(),
			directory: { knows: () => true },
			metrics: { people: { personRead: () => undefined, unknownSession: () => undefined } },
		}),
		{ wasRead: async () => false, noteRead: async () => undefined },
	);
	expect(await reads.permit(request('U1'))).toHaveProperty('read');
	expect(await reads.permit(request('U1'))).toHaveProperty('read');
	await expect(reads.permit(request('U1'))).rejects.toMatchObject({ code: 'too_fast' });
	expect(await reads.permit(request('U2'))).toHaveProperty('read');
});
