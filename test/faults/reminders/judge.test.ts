import { describe, expect, it } from 'vitest';
import type { QuietHours } from '../../../src/kernel/quiet-hours.ts';
import { DEFAULT_CHANNEL_SETTINGS } from '../../../src/store/watch.ts';
import { digestText, reminderText } from '../../support/sentences.ts';
import { type Asked, createHistory, type History, type Post, type Read } from './history.ts';
import { judge } from './judge.ts';
import { quietPeriods } from './local-time.ts';
import { permalinkOf } from './slack.ts';
import { verdictOf } from './verdict.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** A Saturday, 20:00 in Berlin; clocks change in the night after it. */
const POSTED = Date.parse('2026-03-28T19:00:00Z');
/** Of the post of a question. */
const THREAD = String(POSTED);
const linked = (to: number) => `<${permalinkOf('C1', String(to))}|Go to question>`;
const REMINDER = `${reminderText('reminder', 10, 's1', 'Which colour for q1 ?')} ${linked(POSTED)}`;
const ESCALATION = `<@UBOSS1> ${reminderText('escalation', 30, 's1', 'Which colour for q1 ?')} ${linked(POSTED)}`;
const NIGHT: QuietHours = { days: [1, 2, 3, 4, 5, 6, 7], from: '22:00', to: '02:30', timeZone: 'Europe/Berlin' };

function post(at: number, text: string, threadTs: string | null = null): Post {
	const content = JSON.stringify([text]);
	return { at, channelId: 'C1', ts: String(at), text, content, threadTs };
}

function read(at: number, sessionId = 's1'): Read {
	return { sessionId, beganAt: at - 2_000, stateAt: at - 1_000, storedAt: at, isSure: true };
}

/**
 * A question that was posted at `POSTED` and never answered, with reminders at these times after it: the first is a reminder
 * (due after 10 minutes), the others are escalations (after 30 minutes, and 30 minutes after the last). The session was
 * read before each.
 */
function reminder(times: readonly number[], change: (history: History) => void = () => {}): History {
	const history = createHistory();
	history.channelsOf.set('s1', ['C1']);
	history.questions.push({ id: 'q1', sessionId: 's1', askedAt: POSTED, settledAt: null });
	history.posts.push(post(POSTED, 'An agent asks: Which colour for q1 ?'));
	for (const [index, after] of times.entries()) {
		history.posts.push(index === 0 ? post(POSTED + after, REMINDER) : post(POSTED + after, ESCALATION));
		history.reads.push(read(POSTED + after - 1_000));
	}
	const mention = { userIds: ['UBOSS1'], groupIds: [] };
	history.settings.push({
		channelId: 'C1',
		at: POSTED - HOUR,
		settings: { ...DEFAULT_CHANNEL_SETTINGS, remindAfterMs: 10 * MINUTE, escalateAfterMs: 30 * MINUTE, mention },
	});
	history.endedAt = POSTED + (times.at(-1) ?? 0) + 20 * SECOND;
	change(history);
	return history;
}

const FIRST = 10 * MINUTE + 10_000;
const TIMES = [FIRST, 30 * MINUTE + 10_000, 60 * MINUTE + 20_000];
const verdict = (history: History) => verdictOf({ history, lateMs: [], virtualMs: 0 }, 'sqlite');
const faultsOf = (history: History) => judge(history).faults.map(({ fault }) => fault);
const rest = (from: number, to = from + 2 * MINUTE) => ({ from: POSTED + from, to: POSTED + to });

/**
 * 17 questions that were posted a second apart in one channel. Their reminder is one message, `after` this time, that lists
 * those from one number to another.
 */
function crowded(
	after: number,
	{ listed: [from, to], unlisted }: { listed: readonly [number, number]; unlisted: number },
	change: (history: History) => void = () => {},
): History {
	return reminder([], (history) => {
		history.questions = [];
		history.posts.length = 0;
		const ids = Array.from({ length: 17 }, (_, index) => `q${index + 1}`);
		for (const [index, id] of ids.entries()) {
			const sessionId = `s${index + 1}`;
			const at = POSTED + (index + 1) * SECOND;
			history.channelsOf.set(sessionId, ['C1']);
			history.questions.push({ id, sessionId, askedAt: at, settledAt: null });
			history.posts.push(post(at, `An agent asks: Which colour for ${id} ?`));
			history.reads.push(read(POSTED + after - SECOND, sessionId));
		}
		const lines = ids.slice(from - 1, to).join(', ');
		const words = `${digestText(17)}.`;
		const content = JSON.stringify([`${words} ${lines} and ${unlisted} more: /session shows all.`]);
		history.posts.push({ ...post(POSTED + after, words), content });
		history.endedAt = POSTED + 12 * MINUTE;
		change(history);
	});
}

describe('the judge of reminders', () => {
	it('finds nothing wrong with reminders that come when they are due', () => {
		expect(verdict(reminder(TIMES))).toMatchObject({ reminders: 3, late: 0, missed: 0, problems: [] });
		expect(verdict(reminder(TIMES)).worstMs).toBe(10_000);
	});

	it.each<[string, number[], (history: History) => void]>([
		['twice or too early', [...TIMES, (TIMES[2] as number) + 20_000], () => {}],
		['twice or too early', [9 * MINUTE], () => {}],
		[
			'after the answer was known',
			[FIRST],
			({ answers }) => answers.push({ questionId: 'q1', ...rest(10 * MINUTE + 9_000), isSure: true }),
		],
		[
			'after the answer was known',
			[FIRST],
			({ questions }) => Object.assign(questions[0] as Asked, { settledAt: POSTED + 9 * MINUTE }),
		],
		['without a read', [FIRST], ({ reads }) => reads.splice(0, 1, read(POSTED + 9 * MINUTE))],
		[
			'in quiet hours',
			[FIRST],
			({ settings: [first] }) => {
				if (first !== undefined) first.settings = { ...first.settings, quietHours: { ...NIGHT, from: '20:05' } };
			},
		],
		['while the service was away', [FIRST], ({ outages }) => outages.push(rest(9 * MINUTE, 12 * MINUTE))],
		[
			'while somebody was answering',
			[FIRST],
			({ claims }) => claims.push({ questionId: 'q1', ...rest(9 * MINUTE, 14 * MINUTE), isSure: true }),
		],
	])('finds a reminder that comes %s', (fault, times, change) => {
		expect(faultsOf(reminder(times, change))).toEqual([fault]);
	});

	it('knows a message of several by its words, also when only one of them is left', () => {
		const together = reminder([FIRST], ({ posts }) => {
			posts[1] = { ...post(POSTED + 610_000, `${digestText(1)}.`), content: JSON.stringify(['q1']) };
		});
		expect(judge(together)).toMatchObject({ rings: [{ at: POSTED + 610_000 }], faults: [] });
	});

	it('takes no hash of a row for the id of a question', () => {
		const row = {
			type: 'actions',
			block_id: `["row",{"channelId":"C1","threadTs":"${POSTED}"},"q8-kR3wicEZ3pJKoFY4gJI"]`,
		};
		const hashed = reminder([FIRST], ({ posts }) => {
			posts[1] = { ...post(POSTED + FIRST, REMINDER), content: JSON.stringify([REMINDER, [row]]) };
		});
		expect(verdict(hashed)).toMatchObject({ reminders: 1, problems: [] });
	});

	it('wants each row of several to lead to its question', () => {
		const listing = (ts: number) => {
			const row = { type: 'section', block_id: `["row",{"channelId":"C1","threadTs":"${ts}"},"hash"]` };
			return reminder([FIRST], ({ posts }) => {
				const words = `${digestText(2)}.`;
				posts[1] = { ...post(POSTED + FIRST, words), content: JSON.stringify([words, [row, 'q1']]) };
			});
		};
		expect(verdict(listing(POSTED))).toMatchObject({ reminders: 1, problems: [] });
		expect(verdict(listing(POSTED + 1))).toMatchObject({ wrongPlaces: 1 });
	});

	describe('of a message that does not list all its questions', () => {
		const late = 10 * MINUTE + 25 * SECOND;

		it('counts those that were posted after the listed ones', () => {
			const { rings, faults } = judge(crowded(late, { listed: [1, 15], unlisted: 2 }));
			expect(rings).toHaveLength(17);
			expect(rings.filter(({ post }) => post === null)).toEqual([]);
			expect(rings.at(-1)).toMatchObject({
				questionId: 'q17',
				at: POSTED + late,
				dueAt: POSTED + 10 * MINUTE + 17_000,
			});
			expect(faults).toEqual([]);
		});

		it('counts a reminder for the reminder or the escalation that it must have been', () => {
			const escalated = crowded(late, { listed: [1, 15], unlisted: 2 });
			escalated.posts.push(post(POSTED + 30 * MINUTE + 20_000, ESCALATION.replace('q1', 'q17')));
			escalated.reads.push(read(POSTED + 30 * MINUTE + 19_000, 's17'));
			const ofLast = judge(escalated).rings.filter(({ questionId }) => questionId === 'q17');
			expect(ofLast).toMatchObject([{ at: POSTED + late }, { at: POSTED + 30 * MINUTE + 20_000 }]);
			expect(judge(escalated).faults).toEqual([]);
		});

		it('finds more of them than it says', () => {
			expect(faultsOf(crowded(late, { listed: [1, 15], unlisted: 1 }))).toEqual(['unlisted, and more than it says']);
		});

		it.each<[string, string[], History]>([
			['are older than a listed one', ['q1', 'q2'], crowded(late, { listed: [3, 17], unlisted: 2 })],
			['were not due', ['q16', 'q17'], crowded(9 * MINUTE, { listed: [1, 15], unlisted: 2 })],
			[
				'were not read',
				['q16', 'q17'],
				crowded(late, { listed: [1, 15], unlisted: 2 }, ({ reads }) => reads.splice(15)),
			],
		])('does not count those that %s', (_, ids, history) => {
			const missed = judge(history).rings.filter(({ post: came }) => came === null);
			expect(missed.map(({ questionId }) => questionId)).toEqual(ids);
		});
	});

	it('knows that whoever answers the question before it holds a changed question', () => {
		const changed = reminder([13 * MINUTE], (history) => {
			Object.assign(history.questions[0] as Asked, { changedFrom: 'q0' });
			history.questions.push({ id: 'q0', sessionId: 's0', askedAt: POSTED - MINUTE, settledAt: POSTED });
			history.claims.push({ questionId: 'q0', ...rest(-MINUTE, 12 * MINUTE + 50_000), isSure: true });
		});
		expect(verdict(changed)).toMatchObject({ late: 0, missed: 0, problems: [] });
	});

	it('counts from the end of what was in the way', () => {
		const held = reminder([13 * MINUTE], ({ claims }) => {
			claims.push({ questionId: 'q1', ...rest(9 * MINUTE, 12 * MINUTE), isSure: true });
		});
		expect(judge(held).rings).toMatchObject([{ dueAt: POSTED + 12 * MINUTE, at: POSTED + 13 * MINUTE }]);
		expect(verdict(held)).toMatchObject({ late: 1, problems: [expect.stringContaining('late by 60.0 s')] });
	});

	it('finds a reminder that does not come', () => {
		const missing = reminder([], (history) => Object.assign(history, { endedAt: POSTED + 11 * MINUTE }));
		expect(verdict(missing)).toMatchObject({ reminders: 0, missed: 1 });
	});

	it('finds mentions of others, and reminders at another place', () => {
		const other = reminder(TIMES, ({ posts }) => posts.push(post(POSTED + 61 * MINUTE, `<@U999> ${REMINDER}`)));
		expect(verdict(other)).toMatchObject({ wrongMentions: 1 });
		for (const element of [
			{ type: 'user', user_id: 'U999' },
			{ type: 'usergroup', usergroup_id: 'S999' },
			{ type: 'broadcast', range: 'here' },
		]) {
			const late = post(POSTED + 61 * MINUTE, REMINDER);
			const blocks = [{ type: 'rich_text', elements: [{ type: 'rich_text_section', elements: [element] }] }];
			const content = JSON.stringify([REMINDER, blocks]);
			const rich = reminder(TIMES, ({ posts }) => posts.push({ ...late, content }));
			expect(verdict(rich)).toMatchObject({ wrongMentions: 1 });
		}
		for (const [type, wrongMentions] of [
			['mrkdwn', 1],
			['plain_text', 0],
			['text', 0],
		] as const) {
			const late = post(POSTED + 61 * MINUTE, REMINDER);
			const content = JSON.stringify([REMINDER, [{ type: 'section', text: { type, text: 'May I? <!here>' } }]]);
			const written = reminder(TIMES, ({ posts }) => posts.push({ ...late, content }));
			expect(verdict(written)).toMatchObject({ wrongMentions });
		}
		const elsewhere = reminder(TIMES, ({ posts }) => posts.push(post(POSTED + 61 * MINUTE, REMINDER, THREAD)));
		expect(verdict(elsewhere)).toMatchObject({ wrongPlaces: 1 });
	});

	it('finds reminders that were due together and came apart, unless the service came back just then', () => {
		const pair = (outage: (history: History) => void) =>
			reminder([FIRST], (history) => {
				history.channelsOf.set('s2', ['C1']);
				const postedAt = POSTED + 3 * SECOND;
				history.questions.push({ id: 'q2', sessionId: 's2', askedAt: postedAt, settledAt: null });
				history.posts.push(post(postedAt, 'An agent asks: Which colour for q2 ?'));
				const cameAt = POSTED + FIRST + 4 * SECOND;
				history.posts.push(post(cameAt, REMINDER.replace('q1', 'q2').replace(linked(POSTED), linked(postedAt))));
				history.reads.push(read(cameAt - SECOND, 's2'));
				outage(history);
			});
		expect(verdict(pair(() => {}))).toMatchObject({ apart: 1 });
		const away = pair(({ outages }) => outages.push(rest(9 * MINUTE, 10 * MINUTE + 2 * SECOND)));
		expect(verdict(away)).toMatchObject({ apart: 0, problems: [] });
	});

	it('allows more than 60 reminders a minute to be late, and finds an older one behind a younger', () => {
		const crowd = reminder([], (history) => {
			for (let index = 1; index <= 200; index += 1) {
				const id = `q${index}`;
				const at = POSTED + (index < 100 ? 0 : 40 * SECOND);
				const sessionId = `s${index}`;
				history.channelsOf.set(sessionId, [`C${index}`]);
				const inChannel = (made: Post): Post => ({ ...made, channelId: `C${index}` });
				if (index > 1) history.questions.push({ id, sessionId, askedAt: at, settledAt: null });
				history.posts.push(inChannel(post(at, `An agent asks: Which colour for ${id} ?`)));
				const cameAt = POSTED + 10 * MINUTE + (index === 99 ? 240 : index) * SECOND;
				history.posts.push(inChannel(post(cameAt, REMINDER.replace('q1', id))));
				history.reads.push(read(cameAt, sessionId));
				const [settings] = history.settings;
				if (settings !== undefined) history.settings.push({ ...settings, channelId: `C${index}` });
			}
			history.endedAt = POSTED + 12 * MINUTE;
		});
		expect(verdict(crowd)).toMatchObject({ overtaken: 1 });
		expect(verdict(crowd).crowded.late).toBeGreaterThan(50);
	});
});

describe('the quiet hours of the judge', () => {
	it.each<[string, Partial<QuietHours>, string, string]>([
		['in an ordinary night', {}, '2026-03-20T21:00Z', '2026-03-21T01:30Z'],
		['that end in the hour that is skipped', {}, '2026-03-28T21:00Z', '2026-03-29T01:30Z'],
		['that end in the hour that comes twice', {}, '2026-10-24T20:00Z', '2026-10-25T00:30Z'],
		[
			'where clocks change by half an hour',
			{ to: '01:45', timeZone: 'Australia/Lord_Howe' },
			'2026-04-04T11:00Z',
			'2026-04-04T14:45Z',
		],
		['in New York', { timeZone: 'America/New_York', to: '08:00' }, '2026-11-01T02:00Z', '2026-11-01T13:00Z'],
		['within one day', { from: '12:00', to: '13:00' }, '2026-03-29T10:00Z', '2026-03-29T11:00Z'],
	])('are known %s', (_, hours, from, to) => {
		const [start, end] = [Date.parse(from), Date.parse(to)];
		expect(quietPeriods({ ...NIGHT, ...hours }, start, end)).toContainEqual({ from: start, to: end });
	});
});
