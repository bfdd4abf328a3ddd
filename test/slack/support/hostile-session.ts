import fc from 'fast-check';
import { anyWebUrl } from '../../support/any-text.ts';
import { hostileText } from './hostile-text.ts';

/** A text in places that no person may ever see: values of variables, undocumented fields, parts of addresses. */
export const CANARY = 'C4NARY-d41d8cd98f';

/** As the service may send it: fields are null, absent, of another type or undocumented. */
export type RawSession = Record<string, unknown>;

/** The longest session here, in UTF-16 units; giant-sessions.test.ts has longer ones. */
const LONGEST = 300_000;

const anyAction = fc.oneof(
	fc.constantFrom<unknown>(
		{ click: { index: 3, note: CANARY } },
		{ go_to_url: { url: `https://user:${CANARY}@shop.example/${CANARY}?q=${CANARY}` } },
		{ input_text: { index: 1, text: CANARY } },
		{ done: null },
		null,
		7,
		{},
	),
	hostileText.map((text) => ({ done: { text, note: CANARY } })),
	hostileText.map((done) => ({ done })),
	hostileText.map((filename) => ({
		save_to_file: { file_path: `/home/${CANARY}/report.pdf`, filename, status: 'deleted' },
	})),
	hostileText.map((name) => ({ [name]: { secret: CANARY } })),
);

const anyUrl = fc.oneof(
	fc.constantFrom('https://bucket.example/file?sig=1', 'http://a.example/<!here>|x', 'javascript:alert(1)', 'https://'),
	anyWebUrl,
	hostileText,
);

const shape = fc.record({
	texts: fc.array(hostileText, { minLength: 1, maxLength: 10 }),
	actions: fc.array(anyAction, { minLength: 1, maxLength: 5 }),
	roles: fc.array(
		fc.oneof({ weight: 6, arbitrary: fc.constant('assistant') }, fc.constantFrom('user', null), hostileText),
		{ minLength: 1, maxLength: 4 },
	),
	messages: fc.oneof(
		{ weight: 6, arbitrary: fc.nat(12) },
		{ weight: 2, arbitrary: fc.nat(80) },
		{ weight: 1, arbitrary: fc.nat(600) },
	),
	items: fc.oneof({ weight: 5, arbitrary: fc.nat(6) }, { weight: 3, arbitrary: fc.nat(50) }),
	askedAgo: fc.nat(2),
	answered: fc.boolean(),
	status: fc.oneof(
		{ weight: 6, arbitrary: fc.constant('humanInput') },
		{ weight: 4, arbitrary: fc.constantFrom('active', 'inactive', 'paused', 'stopped', 'completed', 'failed') },
		hostileText,
	),
	name: fc.option(hostileText),
	details: fc.option(hostileText),
	urls: fc.array(fc.option(anyUrl), { minLength: 1, maxLength: 4 }),
	files: fc.nat(20),
	variables: fc.nat(30),
	times: fc.array(fc.oneof(fc.constantFrom('2026-11-20T08:00:00Z', null, 'yesterday'), hostileText), {
		minLength: 1,
		maxLength: 3,
	}),
	maxSteps: fc.option(fc.oneof(fc.integer(), fc.double(), hostileText)),
	stride: fc.integer({ min: 1, max: 7 }),
	absent: fc.boolean(),
});

/** A session with a few hostile texts in all its fields, which keeps large sessions cheap to make and to shrink. */
export const hostileSession: fc.Arbitrary<RawSession> = shape.map((chosen) => {
	const { stride } = chosen;
	const pick = <Value>(values: readonly Value[], at: number) => values[(at * stride) % values.length] as Value;
	const items = list(chosen.items, (at) => ({
		title: at % 5 === 4 ? null : pick(chosen.texts, at),
		description: at % 7 === 6 ? undefined : pick(chosen.texts, at + 1),
		value: chosen.answered && at % 3 === 0 ? pick(chosen.texts, at + 2) : at % 2 === 0 ? '' : null,
		secret: CANARY,
	}));
	let room = LONGEST - JSON.stringify(items).length;
	const messages: unknown[] = [];
	for (let at = 0; at < chosen.messages && room > 0; at += 1) {
		const message = {
			role: pick(chosen.roles, at),
			content: at % 11 === 10 ? null : pick(chosen.texts, at),
			...(at % 4 === 3
				? {}
				: { agent_data: { action: list(at % 4, (n) => pick(chosen.actions, at + n)), thought: CANARY } }),
			[CANARY]: CANARY,
		};
		room -= JSON.stringify(message).length;
		messages.push(message);
	}
	if (items.length > 0) {
		messages.splice(Math.max(0, messages.length - chosen.askedAgo), 0, {
			role: 'assistant',
			content: pick(chosen.texts, 3),
			human_input: items,
		});
	}
	return {
		...(chosen.absent ? {} : { sessionId: pick(chosen.texts, 1), endTime: null, files: null }),
		status: chosen.status,
		name: chosen.name,
		sessionDetails: chosen.details,
		messages,
		files: list(chosen.files, (at) => ({
			filename: pick(chosen.texts, at),
			signedUrl: pick(chosen.urls, at),
			key: CANARY,
		})),
		lastScreenshotUrl: pick(chosen.urls, 2),
		lastScreenshotTimestamp: pick(chosen.times, 1),
		startTime: pick(chosen.times, 0),
		sessionVariables: list(chosen.variables, (at) => ({ name: pick(chosen.texts, at), value: CANARY })),
		maxSteps: chosen.maxSteps,
		vncPassword: CANARY,
		userId: CANARY,
		cost: { total: CANARY },
	};
});

function list<Value>(length: number, make: (at: number) => Value): Value[] {
	return Array.from({ length }, (_, at) => make(at));
}
