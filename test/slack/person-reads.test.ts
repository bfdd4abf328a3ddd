import { expect, it } from 'vitest';
import { createManualClock } from '../../fake-slack/index.ts';
import { textMessage } from '../../src/slack/blocks.ts';
import { createPersonReads } from '../../src/slack/person-reads.ts';
import { createReply } from '../../src/slack/reply.ts';
import type { PersonRequest } from '../../src/slack/request.ts';
import { createRecordingLog } from '../store/support.ts';
import { coreOf } from '../support/core.ts';
import { whatHappened } from '../support/sentences.ts';

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

function readsOf(take: () => Promise<number>, burst: number) {
	const core = coreOf({
		sessionService: { read: () => Promise.reject(new Error('this test reads no session')) },
		rateLimiter: { take, charge: () => Promise.reject(new Error('this test charges nobody')) },
		config: { personReads: { burst, perMinute: 20 } },
		clock: createManualClock(),
		directory: { knows: () => true },
		metrics: { people: { personRead: () => undefined, unknownSession: () => undefined } },
	});
	return createPersonReads(core, {
		wasRead: async () => false,
		noteRead: async () => undefined,
	});
}

it.each([
	['fails', () => Promise.reject(new Error('the database does not respond'))],
	['does not respond', () => new Promise<never>(() => undefined)],
])('a process limits by itself while the shared rate limiter %s', async (_, take) => {
	const reads = readsOf(take, 2);
	expect(await reads.permit(request('U1'))).toHaveProperty('read');
	expect(await reads.permit(request('U1'))).toHaveProperty('read');
	await expect(reads.permit(request('U1'))).rejects.toMatchObject({ code: 'too_fast' });
	expect(await reads.permit(request('U2'))).toHaveProperty('read');
});

it('tells a person who is too fast to slow down, and says that the message was not sent', async () => {
	const sent: unknown[] = [];
	const postEphemeral = async ({ text }: { text?: string }) => void sent.push(text);
	const core = coreOf({
		config: { ADMIN_CONTACT: null },
		clock: createManualClock(),
		directChannelOf: () => Promise.reject(new Error('this test needs no direct message')),
		clients: { people: { chat: { postEphemeral } } as never },
	});
	const reads = readsOf(async () => (sent.length === 0 ? 0 : 60_000), 1);
	const { toPerson } = createReply(core, reads);
	expect(await toPerson(request('U1'), textMessage('The files.'))).toBe(true);
	expect(await toPerson(request('U1'), textMessage('The files again.'))).toBe(false);
	expect(sent).toEqual(['The files.', expect.stringContaining(whatHappened('too_fast'))]);
});
