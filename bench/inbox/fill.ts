import { randomUUID } from 'node:crypto';
import { sampleWorkspace, withMembers } from '../../fake-slack/index.ts';
import type { FakeSessionService } from '../../sandbox/session-service/fake-session-service.ts';
import type { SessionJson } from '../../sandbox/session-service/json.ts';
import { snapshotOf } from '../../src/domain/session-snapshot.ts';
import { NO_LIMITS } from '../../test/sessions/support.ts';
import { item, open, submission } from '../../test/store/support.ts';
import { firstFound } from '../../test/support/found.ts';
import { gatedResponse } from '../../test/support/sessions.ts';
import { reportSession } from '../figures/sessions.ts';

export const QUESTIONS = 300;
/** Channels with open questions, and those of them that a person is in. */
export const OPEN_CHANNELS = { all: 60, theirs: 40 } as const;
/** People who can open their Home tab. */
export const PEOPLE = 200;
const ANSWERS_EACH = 12;
const TEAM = 'T0ACME';
export const ENCRYPTION_KEY = Buffer.alloc(32, 7).toString('base64');

const names = Array.from({ length: PEOPLE }, (_, index) => `person${index}`);
const userId = (index: number) => `U0PERSON${index}`;

/** A workspace with many channels, in two thirds of which everybody is. Half are private. */
export function workspace() {
	const base = withMembers(sampleWorkspace(), 'agents', names);
	const members = names.map((_, index) => userId(index));
	const traits = { isIm: false, isArchived: false, isExtShared: false };
	const channels = Array.from({ length: OPEN_CHANNELS.all }, (_, index) => ({
		id: `C0OPEN${index}`,
		name: `open${index}`,
		members: [...(index < OPEN_CHANNELS.theirs ? members : []), 'U0ADA', 'U0BOT'],
		isPrivate: index % 2 === 1,
		...traits,
	}));
	return { ...base, channels: [...base.channels, ...channels] };
}

/** Fills a database with watched sessions whose agents ask, and with answers of people. No program runs on it. */
export async function storeQuestions({
	databaseUrl,
	dataDir,
	service,
	people,
}: {
	readonly databaseUrl: string | null;
	readonly dataDir: string;
	readonly service: FakeSessionService;
	readonly people: number;
}): Promise<void> {
	const store = await open({ databaseUrl, dataDir, encryptionKey: ENCRYPTION_KEY });
	const now = Date.now();
	try {
		for (let index = 0; index < QUESTIONS; index++) {
			const sessionId = `question${index}`;
			const json: SessionJson = { ...reportSession(), name: `Write report ${index}` };
			service.sessions.put(sessionId, json);
			const session = gatedResponse({ session: json }, sessionId);
			if (session === null) throw new Error('the sample session cannot be read');
			const channelId = `C0OPEN${index % OPEN_CHANNELS.all}`;
			const id = randomUUID();
			const view = snapshotOf(session, now - index * 60_000);
			await store.watches.add({
				id,
				teamId: TEAM,
				channelId,
				session: { service: service.url, sessionId },
				createdBy: 'U0ADA',
				createdAt: now,
				card: {
					target: { kind: 'watch', watchId: id, teamId: TEAM, channelId },
					key: 'card',
					content: { kind: 'card' },
				},
				view,
				found: firstFound(view),
				limits: NO_LIMITS,
			});
			await store.db.writeOne((trx) => trx.updateTable('watches').set({ revision: 1 }).where('id', '=', id).execute());
			// Cards and posts stand already.
			const posted = { state: 'shown', dueAt: null, ts: `${1_795_250_400 + index}.000100`, shownAt: now };
			await store.db.writeOne((trx) => trx.updateTable('posts').set(posted).where('watchId', '=', id).execute());
		}
		for (let index = 0; index < people * ANSWERS_EACH; index++) {
			const question = { service: service.url, sessionId: `answered${index}`, messageIndex: 3 };
			const person = { teamId: TEAM, userId: userId(index % people) };
			const answer = submission({ id: randomUUID(), question, person, items: [item('As it stands on the cover')] });
			await store.answers.accept(answer);
		}
		const settled = { state: 'resumed', nextAttemptAt: null, deliveredAt: now - 60_000, endedAt: now - 60_000 };
		await store.db.writeOne((trx) => trx.updateTable('answers').set(settled).execute());
	} finally {
		await store.close();
	}
}
