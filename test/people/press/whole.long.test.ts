import type { ItemJson } from '../../../fake-session-service/json.ts';
import { cutQuestionWords } from '../../../src/screens/form.ts';
import { QUESTION_CUT } from '../../../src/screens/question.ts';
import { describe, expect, type HandOverApp, handOverApp, item, type Posted, withApp } from '../../kit.ts';

const OPTION = 'LH 1173';
const LIST = 'One of: LH 1173, TP 570';
const words = (length: number) => 'The fare is fair. '.repeat(length / 18 + 1).slice(0, length);
const flight = (title: string, description = LIST) => item(title, description);
const LINK = `https://bucket.example/plan.pdf?X-Amz-Signature=${'f'.repeat(2_000)}`;
const ANSWERED: readonly ItemJson[] = Array.from({ length: 30 }, (_, at) => ({ ...item(`Item ${at}`), value: 'x' }));

const it = withApp(handOverApp);

/** Watched sessions that ask so, and the posts of their questions in this order. Waiting for each card would take long. */
async function allAsked(
	app: HandOverApp,
	questions: readonly (readonly [content: string, items: readonly ItemJson[]])[],
) {
	const ids = questions.map(() => app.session({ name: 'Book a flight' }));
	await app.command(`/session watch ${ids.join(' ')}`);
	await app.until(() => ids.every((id) => app.card(id) && app.service.log.reads(id).length > 1));
	await app.pass(1_500);
	for (const [at, [content, items]] of questions.entries()) app.ask(ids[at] ?? '', items, content);
	const postOf = (id: string) => app.thread(id).findLast((one) => one.buttons().includes('Hand over'));
	const posts: Posted[] = [];
	for (const id of ids) posts.push(await app.until(() => postOf(id)));
	return posts;
}

async function asked(app: HandOverApp, content: string, items: readonly ItemJson[]): Promise<Posted> {
	const [post] = await allAsked(app, [[content, items]]);
	if (post === undefined) throw new Error('there is no post');
	return post;
}

/** Each of these with its post. */
async function posted(app: HandOverApp, questions: readonly Question[]) {
	const posts = await allAsked(
		app,
		questions.map(([, content, items]) => [content, items]),
	);
	return posts.map((post, at) => {
		const [what = '', , , isCut] = questions[at] ?? [];
		return { what, isCut, post };
	});
}

/** The labels of all buttons in the Home tab, and in the inbox's window. */
async function inboxes(app: HandOverApp): Promise<readonly (readonly string[])[]> {
	await app.openHome();
	await app.homeSays(/asked .* ago|asked just now/);
	await app.slack.as('ada').command('#agents', '/session inbox');
	await app.windowSays(/asked .* ago|asked just now/);
	return [app.slack.as('ada').home(), app.slack.as('ada').modal()].map((view) => view?.buttons() ?? []);
}
const countOf = (label: string, buttons: readonly string[]) => buttons.filter((one) => one === label).length;

type Question = readonly [what: string, content: string, items: readonly ItemJson[], isCut?: boolean];

describe('options stand only below a whole question', () => {
	const NOWHERE: readonly Question[] = [
		['a description of 530 characters', '', [flight('Which flight?', `${words(500)}\n\n${LIST}`)]],
		['a description of 2,100 characters', '', [flight('Which flight?', `${words(2_070)}\n\n${LIST}`)]],
		['a title of 260 characters', '', [flight(`${words(240)} Which flight?`)]],
		['a title of 310 characters', '', [flight(`${words(290)} Which flight?`)]],
		['a text of 1,900 characters above it', words(1_900), [flight('Which flight?')]],
		// Slack may fold it, and what is approved has to be seen.
		['600 characters in all', words(587), [flight('Which flight?')], false],
		['13 lines in all', Array(12).fill('It is a rainy day.').join('\n'), [flight('Which flight?')], false],
		['an item behind thirty others', '', [...ANSWERED, flight('Which flight?')], false],
		[
			'an item that the agent filled',
			'',
			[{ ...item('And pay from:'), value: 'savings' }, flight('Which flight?')],
			false,
		],
	];
	it('not below a question that is cut or has other items', async ({ app }) => {
		for (const { what, isCut = true, post } of await posted(app, NOWHERE)) {
			expect(post.buttons(), what).toEqual(['Answer…', ...app.MENU]);
			expect(post.text().includes(QUESTION_CUT), what).toBe(isCut);
		}
		for (const buttons of await inboxes(app)) {
			expect(countOf('Answer…', buttons)).toBe(NOWHERE.length);
			expect(buttons).not.toContain(OPTION);
		}
	});

	it('shows a sign that begins a title and can mean the opposite, on the post, in inboxes and in the form', async ({
		app,
	}) => {
		const post = await asked(app, '', [item('🚫 Book the flight?', 'One of: Yes, No')]);
		const title = '🚫 Book the flight?';
		expect(post.text()).toContain(title);
		expect(post.buttons()).toEqual(['Yes', 'No', 'Other answer…', ...app.MENU]);
		for (const buttons of await inboxes(app)) expect(buttons).toContain('Yes');
		expect(app.slack.as('ada').home()?.text()).toContain(title);
		await app.slack.as('ada').modal()?.close(true);
		await post.press('Other answer…');
		await app.windowSays(title);
	});

	const ON_POSTS: readonly Question[] = [
		['a description of 260 characters', '', [flight('Which flight?', `${words(235)}\n\n${LIST}`)]],
		['a title of 160 characters', '', [flight(`${words(145)} Which flight?`)]],
		['a text of 260 characters above it', words(260), [flight('Which flight?')]],
		['599 characters in all', words(585), [flight('Which flight?')]],
		['12 lines in all', Array(11).fill('It is a rainy day.').join('\n'), [flight('Which flight?')]],
	];
	it('below a question in its post, and not in an inbox, which cuts it', async ({ app }) => {
		for (const { what, post } of await posted(app, ON_POSTS)) {
			expect(post.buttons(), what).toEqual([OPTION, 'TP 570', 'Other answer…', ...app.MENU]);
			expect(post.text(), what).not.toContain(QUESTION_CUT);
		}
		for (const buttons of await inboxes(app)) {
			expect(countOf('Answer…', buttons)).toBe(ON_POSTS.length);
			expect(buttons).not.toContain(OPTION);
		}
		expect(app.slack.as('ada').home()?.text()).not.toContain(QUESTION_CUT);
	});

	const EVERYWHERE: readonly Question[] = [
		['short texts', words(40), [flight('Which flight?', `It rains.\n\n${LIST}`)]],
		['a signed link that is shown without its signature', LINK, [flight('Which flight?')]],
		['a note of the agent’s own', 'Fare rules … (5 more characters)', [flight('Which flight?')]],
	];
	it('everywhere below a question that is shown whole', async ({ app }) => {
		for (const { what, post } of await posted(app, EVERYWHERE)) {
			expect(post.buttons(), what).toContain(OPTION);
		}
		for (const buttons of await inboxes(app)) expect(countOf(OPTION, buttons)).toBe(EVERYWHERE.length);
	});

	it('not in the direct messages to whoever gets a question that is cut, or gets it back', async ({ app }) => {
		const post = await asked(app, '', [flight('Which flight?', `${words(500)}\n\n${LIST}`)]);
		await app.handOver(post, 'ada', 'grace');
		const dm = await app.handedTo('grace');
		expect(dm.buttons()).toEqual(['Answer…', 'Give back', 'Hand over']);
		expect(dm.text()).toContain(QUESTION_CUT);
		await dm.press('Give back');
		const back = await app.givenBackTo('ada');
		expect(back.buttons()).toEqual(['Answer…', 'Hand over']);
		expect(back.text()).toContain(QUESTION_CUT);
	});
});

describe('a text that is cut', () => {
	it('is read where the form says, when it is longer than the form shows', async ({ app }) => {
		const items = (length: number) => Array.from({ length: 31 }, (_, at) => item(`Part ${at}?`, words(length)));
		const own = `${words(90)} … (5 more characters)`;
		for (const [content, asks, isCut] of [
			[words(12_000), [item('Shall I go on?')], true],
			[words(2_441), [item('Shall I go on?')], false],
			['', items(400), true],
			['', items(40), false],
			[own, [item('Shall I go on?', own)], false],
		] as const) {
			const post = await asked(app, content, asks);
			await post.press(post.buttons().includes('Answer…') ? 'Answer…' : 'Other answer…');
			const form = await app.slack.as('ada').waitForModal((modal) => modal.submitText() !== null);
			const told = [true, false].some((hasDashboard) => form.text().includes(cutQuestionWords(hasDashboard)));
			expect(told).toBe(isCut);
			await form.close(true);
		}
	});

	it('says how many of all its characters are missing, also where it is cut twice', async ({ app }) => {
		const post = await asked(app, words(2_441), [item('Which flight?', words(2_441))]);
		const notes = [...post.text().matchAll(/(The fare[^…]*)\n> … \(([\d,]+) more characters\)/g)];
		expect(notes.length).toBeGreaterThanOrEqual(2);
		for (const [, shown = '', count = ''] of notes)
			expect(Math.abs(shown.length + Number(count.replace(',', '')) - 2_441)).toBeLessThanOrEqual(1);
	});
});

it('offers options that begin with a label of ours, and none that people could take for each other or for ours', async ({
	app,
}) => {
	const post = await asked(app, '', [item('Which one?', 'One of: Close ticket, Keep ticket')]);
	expect(post.buttons()).toEqual(['Close ticket', 'Keep ticket', 'Other answer…', ...app.MENU]);
	await app.unwatchAll();
	const alike = ['Undo, Redo', 'give-BACK…, stay', 'Files (7), Folders', 'Ореn, Shut', 'rn, m', '1, ١'];
	const others = await allAsked(
		app,
		alike.map((options) => ['', [item('Which one?', `One of: ${options}`)]]),
	);
	for (const [at, other] of others.entries()) expect(other.buttons(), alike[at]).toEqual(['Answer…', ...app.MENU]);
	for (const buttons of await inboxes(app)) {
		expect(countOf('Answer…', buttons)).toBe(alike.length);
		expect(buttons.filter((label) => alike.some((options) => options.split(', ').includes(label)))).toEqual([]);
	}
});
