import { expect, it } from 'vitest';
import { validateMessage } from '../../../fake-slack/index.ts';
import { MOST_LISTED, rungsPost } from '../../../src/slack/blocks/rungs.ts';
import { snapshotOf } from '../../../src/watches/session-snapshot.ts';
import { assistant, session } from '../../watches/support.ts';
import { now } from '../support/answers.ts';

const LINK =
	'https://acme.enterprise.slack.com/archives/C0123456789/p1736069999123456?thread_ts=1736069999.123456&cid=C0123';

it.each([
	[
		'long',
		'Which of the many colours should I take for the chairs '.repeat(20),
		'Maximiliana von und zu Oberunterammergau',
	],
	['escaped', '&<>'.repeat(400), '&<>'.repeat(100)],
])('a list of reminders with %s texts fits into sections, with every line whole', (_, title, name) => {
	const { question, name: sessionName } = snapshotOf(
		session({ name: title, status: 'humanInput', messages: [assistant('Which?', title)] }),
		now,
	);
	if (question === null) throw new Error('the session asks nothing');
	const { fingerprint } = question;
	const entry = { watchId: 'w', sessionId: 's1', fingerprint, postTs: '1.1', postedAt: now - 93_600_000, heldBy: 'U3' };
	const handOver = {
		id: 'h',
		teamId: 'T1',
		session: { service: 'https://s.example', sessionId: 's1' },
		fingerprint,
		watchId: 'w',
		channelId: 'C1',
		from: 'U1',
		to: 'U2',
		count: 1,
		handedOverAt: now,
		givenBackAt: null,
	};
	const asked = {
		entry: { ...entry, rung: 'escalation', dueAt: now, isLast: true, number: 3, lastRungAt: now } as const,
		question,
		readAt: now,
		offersOptions: true,
		sessionName,
		discreet: false,
		channelId: 'C1',
		handOver,
		link: LINK,
	};
	const list = rungsPost(
		Array.from({ length: MOST_LISTED }, () => asked),
		40,
		{ mention: null, names: { displayName: () => name }, now, maybeRepeat: true },
	);
	expect(validateMessage(list)).toEqual([]);
	const lines = list.blocks.flatMap((block) => (block.type === 'section' ? (block.text?.text ?? '').split('\n') : []));
	const [first = ''] = lines.filter((line) => line.startsWith('• '));
	expect(lines.slice(1)).toEqual(Array.from({ length: MOST_LISTED }, () => first));
	expect(first).toContain(LINK);
});
