import { type MessageJson, type SessionJson, textOf } from '../../../fake-session-service/json.ts';
import { itemsOf } from '../../../fake-session-service/log.ts';
import {
	answeredBy,
	asking,
	done,
	expect,
	FLIGHT,
	forCase,
	type HandOverApp,
	handOverApp,
	it,
	openButtons,
	type Posted,
	REMINDER,
	task,
} from '../../kit.ts';

const BEFORE = [task('Order six desk chairs.'), done('I open the shop.')];
const QUESTION = asking('', [FLIGHT]);
const BY_ADA = answeredBy('ada', 'LH 1173');
const STEP = done('I look again.');

/** The agent asks the same again, and waits all the time. */
const WAITS = { resumeAfterMs: 24 * 3_600_000 };

/** What an agent may make of its messages when it takes an answer at once and asks the same again. */
const HISTORIES = {
	'the same message, emptied': () => [...BEFORE, QUESTION],
	'an earlier message of a shorter history': () => [...BEFORE.slice(0, 1), QUESTION],
	'a later message, without the first': () => [...BEFORE, STEP, STEP, QUESTION],
	'a later message, with the first one emptied': () => [...BEFORE, QUESTION, STEP, QUESTION],
	'a later message, with the first one answered': (now: MessageJson[]) => [...now, STEP, QUESTION],
} satisfies Record<string, (now: MessageJson[]) => MessageJson[]>;

const sentTo = (app: HandOverApp, id: string) => app.service.log.effectivePuts(id).map((put) => itemsOf(put)[0]?.value);
const postAfter = (app: HandOverApp, id: string, first: Posted) =>
	app.until(() => app.thread(id).findLast((post) => post.ts !== first.ts && post.buttons().includes('LH 1173')));

/** An open question that nobody answers in the millisecond in which it is read. */
async function asked(app: HandOverApp) {
	const found = await app.asked();
	await app.pass(1_000);
	return found;
}

/** The agent takes the next answer to this message as soon as it is there, before any read of the session. */
function takesAnswer(
	app: HandOverApp,
	id: string,
	index: number,
	history: (now: MessageJson[]) => MessageJson[],
): Promise<void> {
	const isAnswered = ({ messages }: SessionJson) => textOf(messages?.[index]?.human_input?.[0] ?? {}) !== '';
	return app.service.sessions.until(id, isAnswered).then(() => {
		const now = structuredClone(app.service.sessions.get(id).messages ?? []);
		app.service.sessions.patch(id, { status: 'humanInput', messages: history(now) });
	});
}

/** A question that was answered with “LH 1173” and asked again in the same words, before a read saw the answer. */
async function askedAgain(
	app: HandOverApp,
	history: (now: MessageJson[]) => MessageJson[] = HISTORIES['the same message, emptied'],
) {
	const { id, index, post } = await asked(app);
	const taken = takesAnswer(app, id, index, history);
	await post.press('LH 1173');
	await taken;
	return { id, post };
}

it.each(Object.entries(HISTORIES))(
	'a question that is asked again before a read saw the answer has a post of its own and takes an answer: %s',
	async (_, history) => {
		const app = await forCase(handOverApp({}, WAITS));
		const { id, post } = await askedAgain(app, history);
		const second = await postAfter(app, id, post);
		expect(second.threadTs()).toBeNull();
		await app.openHome();
		await app.homeSays('Which flight?');
		// Of the one whose message is emptied while another asks, it says that the answer was overwritten.
		const saysWho = () => /^ada: LH 1173 · /m.test(post.text());
		await app.until(saysWho);
		expect(openButtons(post)).toEqual([]);
		expect(post.buttons()).toContain('Answer again…');
		await app.slack.as('ada').home()?.press('TP 570');
		await app.until(() => answeredBy('ada', 'TP 570').test(second.text()));
		await app.until(() => sentTo(app, id).length === 2);
		await app.pass(60_000);
		expect(sentTo(app, id)).toEqual(['LH 1173', 'TP 570']);
		expect(saysWho()).toBe(true);
		expect(app.thread(id)).toHaveLength(2);
	},
);

it('says that it was answered when the agent asks something else instead, or nothing', async () => {
	const app = await forCase(handOverApp());
	const other = await askedAgain(app, () => [...BEFORE, asking('', ['Which hotel?'])]);
	await app.threadSays(other.id, 'Which hotel?');
	await app.until(() => BY_ADA.test(other.post.text()));
	const nothing = await askedAgain(app, () => [...BEFORE, STEP]);
	await app.until(() => BY_ADA.test(nothing.post.text()));
});

it('is reminded of, and is in nobody’s hands', async () => {
	const app = await forCase(handOverApp({ REMIND_AFTER: '40s' }, WAITS));
	const { id, index, post } = await asked(app);
	await app.handOver(post, 'ada', 'tess');
	const direct = await app.newestDm('tess', 'Which flight?');
	const taken = takesAnswer(app, id, index, HISTORIES['the same message, emptied']);
	await direct.press('LH 1173');
	await taken;
	const second = await postAfter(app, id, post);
	await app.until(() => direct.text().includes('tess: LH 1173 · delivered · not in the field any more'));
	expect(second.text()).not.toContain('has it');
	const reminder = await app.threadSays(id, REMINDER);
	await reminder.press('Answer');
	const form = await app.slack.as('ada').waitForModal('Which flight?');
	await form.choose(0, 'TP 570');
	await form.submit();
	await app.until(() => sentTo(app, id).length === 2);
	await app.until(() => answeredBy('ada', 'TP 570').test(reminder.text()));
});

it('is answered by a press in an old copy too', async () => {
	const app = await forCase(handOverApp({}, WAITS));
	const { id, index, post } = await asked(app);
	app.keepOld(post);
	const taken = takesAnswer(app, id, index, HISTORIES['the same message, emptied']);
	await post.press('LH 1173');
	await taken;
	await postAfter(app, id, post);
	await app.pass(10_000);
	await post.press('TP 570');
	await app.until(() => sentTo(app, id).length === 2);
	expect(sentTo(app, id)).toEqual(['LH 1173', 'TP 570']);
});
