import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { item } from '../../../sandbox/session-service/builders.ts';
import type { ItemJson } from '../../../sandbox/session-service/json.ts';
import { cutQuestionWords } from '../../../src/features/answer/form-view.ts';
import { QUESTION_CUT } from '../../../src/slack/question-view.ts';
import { type HandOverApp, handOverApp } from '../hand-over/harness.ts';
import { expectNothingWrong } from '../watch/harness.ts';

const OPTION = 'LH 1173';
const LIST = 'One of: LH 1173, TP 570';
const words = (length: number) => 'The fare is fair. '.repeat(length / 18 + 1).slice(0, length);
const flight = (title: string, description = LIST) => item(title, description);
const LINK = `https://bucket.example/plan.pdf?X-Amz-Signature=${'f'.repeat(2_000)}`;
const ANSWERED: readonly ItemJson[] = Array.from({ length: 30 }, (_, at) => ({ ...item(`Item ${at}`), value: 'x' }));

let app: HandOverApp;

/** The buttons of a question in its post, in the Home tab and in the inbox's window. */
async function asked(content: string, items: readonly ItemJson[]) {
	const id = await app.watched({ name: 'Book a flight' });
	app.ask(id, items, content);
	const post = await app.until(() => app.thread(id).findLast((one) => one.buttons().includes('Hand over')));
	await app.openHome();
	await app.homeSays('waiting');
	await app.slack.as('ada').command('#agents', '/session inbox');
	await app.windowSays('[Refresh]');
	const inboxes = [app.slack.as('ada').home(), app.slack.as('ada').modal()];
	return { id, post, inboxes: inboxes.map((view) => view?.buttons() ?? []) };
}

beforeAll(async () => {
	app = await handOverApp();
});
afterAll(() => app[Symbol.asyncDispose]());
afterEach(async () => {
	await app.slack.as('ada').modal()?.close(true);
	expectNothingWrong(app);
	await app.command('/session unwatch all');
});

describe('options stand only below a whole question', () => {
	it.each<[what: string, content: string, items: readonly ItemJson[], isCut?: boolean]>([
		['a description of 530 characters', '', [flight('Which flight?', `${words(500)}\n\n${LIST}`)]],
		['a description of 2,100 characters', '', [flight('Which flight?', `${words(2_070)}\n\n${LIST}`)]],
		['a title of 260 characters', '', [flight(`${words(240)} Which flight?`)]],
		['a title of 310 characters', '', [flight(`${words(290)} Which flight?`)]],
		['a text of 1,600 characters above it', words(1_600), [flight('Which flight?')]],
		['a text that is longer as Slack wants it', '&'.repeat(600), [flight('Which flight?')]],
		['an item behind thirty others', '', [...ANSWERED, flight('Which flight?')], false],
		[
			'an item that the agent filled',
			'',
			[{ ...item('And pay from:'), value: 'savings' }, flight('Which flight?')],
			false,
		],
	])('not below %s', async (_, content, items, isCut = true) => {
		const { post, inboxes } = await asked(content, items);
		expect(post.buttons()).toEqual(['Answer', ...app.MENU]);
		expect(post.text().includes(QUESTION_CUT)).toBe(isCut);
		for (const buttons of inboxes) {
			expect(buttons).toContain('Answer');
			expect(buttons).not.toContain(OPTION);
		}
	});

	it('shows a sign that begins a title and can mean the opposite, on the post, in inboxes and in the form', async () => {
		const { post, inboxes } = await asked('', [item('🚫 Book the flight?', 'One of: Yes, No')]);
		const title = '“🚫 Book the flight?”';
		expect(post.text()).toContain(title);
		expect(post.buttons()).toEqual(['Yes', 'No', 'Answer…', ...app.MENU]);
		for (const buttons of inboxes) expect(buttons).toContain('Yes');
		expect(app.slack.as('ada').home()?.text()).toContain(title);
		await app.slack.as('ada').modal()?.close(true);
		await post.press('Answer…');
		await app.windowSays(title);
	});

	it.each<[what: string, content: string, items: readonly ItemJson[]]>([
		['a description of 260 characters', '', [flight('Which flight?', `${words(235)}\n\n${LIST}`)]],
		['a title of 130 characters', '', [flight(`${words(115)} Which flight?`)]],
		['a text of 260 characters above it', words(260), [flight('Which flight?')]],
	])('below %s in its post, and not in an inbox, which cuts it', async (_, content, items) => {
		const { post, inboxes } = await asked(content, items);
		expect(post.buttons()).toEqual([OPTION, 'TP 570', 'Answer…', ...app.MENU]);
		expect(post.text()).not.toContain(QUESTION_CUT);
		expect(app.slack.as('ada').home()?.text()).toContain(QUESTION_CUT);
		for (const buttons of inboxes) {
			expect(buttons).toContain('Answer');
			expect(buttons).not.toContain(OPTION);
		}
	});

	it.each<[what: string, content: string, items: readonly ItemJson[]]>([
		['short texts', words(200), [flight('Which flight?', `It rains.\n\n${LIST}`)]],
		['a signed link that is shown without its signature', `See ${LINK} first.`, [flight('Which flight?')]],
		['a note of the agent’s own', 'The page says: fare rules … (5 more characters)', [flight('Which flight?')]],
	])('everywhere below %s', async (_, content, items) => {
		const { post, inboxes } = await asked(content, items);
		expect(post.buttons()).toContain(OPTION);
		// Slack folds long sections without it.
		expect(JSON.stringify(post.blocks()).match(/"expand":true/g)).toHaveLength(content === '' ? 1 : 2);
		for (const buttons of inboxes) expect(buttons).toContain(OPTION);
	});

	it('not in the direct messages to whoever gets a question that is cut, or gets it back', async () => {
		const { post } = await asked('', [flight('Which flight?', `${words(500)}\n\n${LIST}`)]);
		await app.slack.as('ada').modal()?.close(true);
		await app.handOver(post, 'ada', 'grace');
		const dm = await app.handedTo('grace');
		expect(dm.buttons()).toEqual(['Answer', 'Give back', 'Hand over']);
		expect(dm.text()).toContain(QUESTION_CUT);
		await dm.press('Give back');
		const back = await app.givenBackTo('ada');
		expect(back.buttons()).toEqual(['Answer', 'Hand over']);
		expect(back.text()).toContain(QUESTION_CUT);
	});
});

describe('a text that is cut', () => {
	it('is read where the form says, when it is longer than the form shows', async () => {
		const items = (length: number) => Array.from({ length: 31 }, (_, at) => item(`Part ${at}?`, words(length)));
		const own = `${words(90)} … (5 more characters)`;
		for (const [content, asks, isCut] of [
			[words(12_000), [item('Shall I go on?')], true],
			[words(2_441), [item('Shall I go on?')], false],
			['', items(400), true],
			['', items(40), false],
			[own, [item('Shall I go on?', own)], false],
		] as const) {
			const { post } = await asked(content, asks);
			await app.slack.as('ada').modal()?.close(true);
			await post.press(post.buttons().includes('Answer') ? 'Answer' : 'Answer…');
			const form = await app.slack.as('ada').waitForModal((modal) => modal.submitText() !== null);
			const told = [true, false].some((hasDashboard) => form.text().includes(cutQuestionWords(hasDashboard)));
			expect(told).toBe(isCut);
			await form.close(true);
		}
	});

	it('says how many of all its characters are missing, also where it is cut twice', async () => {
		const { post } = await asked(words(2_441), [item('Which flight?', words(2_441))]);
		const notes = [...post.text().matchAll(/(The fare[^…]*)… \(([\d,]+) more characters\)/g)];
		expect(notes.length).toBeGreaterThanOrEqual(2);
		for (const [, shown = '', count = ''] of notes)
			expect(Math.abs(shown.length + Number(count.replace(',', '')) - 2_441)).toBeLessThanOrEqual(1);
	});
});

it('offers options that begin with a label of ours and go on with words', async () => {
	const { post } = await asked('', [item('Which one?', 'One of: Close ticket, Keep ticket')]);
	expect(post.buttons()).toEqual(['Close ticket', 'Keep ticket', 'Answer…', ...app.MENU]);
});

it.each(['Undo, Redo', 'give-BACK…, stay', 'Files (7), Folders', 'Ореn, Shut', 'rn, m', '1, ١'])(
	'offers no options that people could take for each other or for our buttons: %s',
	async (options) => {
		const { post, inboxes } = await asked('', [item('Which one?', `One of: ${options}`)]);
		expect(post.buttons()).toEqual(['Answer', ...app.MENU]);
		for (const buttons of inboxes) expect(buttons.some((label) => options.includes(label))).toBe(false);
	},
);
