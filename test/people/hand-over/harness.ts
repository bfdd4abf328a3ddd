import { type Json, type Posted, sampleWorkspace, withMembers } from '../../../fake-slack/index.ts';
import { GAVE_BACK, YOU_HAVE_IT } from '../../support/sentences.ts';
import { inboxApp } from '../inbox/harness.ts';

export const FLIGHT = { title: 'Which flight?', description: 'One of: LH 1173, TP 570' };

/** bob, cleo and dan are members of #agents; tess is in no channel that the app is in. */
function workspace() {
	const all = withMembers(sampleWorkspace(), 'agents', ['bob', 'cleo', 'dan']);
	const whole = withMembers(all, 'vault', ['tess']);
	const [ada] = whole.people;
	if (ada === undefined) throw new Error('nobody is there');
	// Slackbot looks like a person, except for its id.
	return { ...whole, people: [...whole.people, { ...ada, id: 'USLACKBOT', name: 'slackbot', realName: 'Slackbot' }] };
}

/** The whole program, and people who hand questions over to others. */
export async function handOverApp(
	env: Readonly<Record<string, string>> = {},
	{ resumeAfterMs = 800, ...options }: Parameters<typeof inboxApp>[0] & { resumeAfterMs?: number } = {},
) {
	const app = await inboxApp({
		...options,
		env: { UNDO_SECONDS: '0', ...env },
		slack: { workspace: workspace() },
		service: { resumeAfterMs, ...options.service },
	});

	/** A question of a watched session, and its post. */
	async function asked(style?: Parameters<typeof app.setPosts>[0], items: Parameters<typeof app.ask>[1] = [FLIGHT]) {
		const id = await app.watched({ name: 'Book a flight' }, style);
		const index = app.ask(id, items, '');
		const post = await app.until(() => app.thread(id).findLast((one) => one.buttons().includes('Hand over')));
		return { id, index, post };
	}

	/** Somebody presses a button of a post that another person sees too. */
	async function press(post: Posted, who: string, label: string) {
		await app.seenBy(who, post).press(label);
	}

	/** Somebody presses *Hand over*, chooses somebody and submits; resolves to the window. */
	async function handOver(post: Posted, from: string, to: string, note = '') {
		await press(post, from, 'Hand over');
		const modal = await app.slack.as(from).waitForModal('Hand over to');
		await modal.choose('Hand over to', to);
		if (note !== '') await modal.fill('Note', note);
		return { modal, ...(await modal.submit()) };
	}

	const dms = (who: string) => app.slack.as(who).dm();
	const newestDm = (who: string, words: string) =>
		app.until(
			() => dms(who).findLast((dm) => dm.text().includes(words)),
			() =>
				`${who} has:\n${dms(who)
					.map((dm) => dm.text())
					.join('\n--\n')}`,
		);
	const saysIn = (post: Posted, words: string) =>
		app.until(
			() => post.text().includes(words),
			() => post.text(),
		);

	/** Slack takes no update in this conversation any more, so that its messages stay as they are. */
	function keepOld({ channel: of }: Posted): void {
		app.slack.faults.add({ method: 'chat.update', error: 'internal_error', when: ({ channel }) => channel === of });
		// Nor does a press on one replace it.
		const when = ({ replace_original: replaces }: Json) => replaces === true;
		app.slack.faults.add({ method: 'response_url', status: 500, when });
	}

	/** The direct message to somebody who got a question, or got it back. */
	const handedTo = (who: string) => newestDm(who, YOU_HAVE_IT);
	const givenBackTo = (who: string) => newestDm(who, GAVE_BACK);

	/** A question that Ada handed over, and the direct message to whoever got it. */
	async function handed(to = 'tess') {
		const question = await asked();
		await handOver(question.post, 'ada', to);
		return { ...question, dm: await handedTo(to) };
	}

	/** The program starts again. Only these people may use it. */
	const restartFor = (...names: string[]) =>
		app.restart({ ALLOWED_USERS: names.map((who) => app.slack.as(who).user).join() });

	return { ...app, restartFor, handed, asked, press, handOver, dms, newestDm, handedTo, givenBackTo, keepOld, saysIn };
}

export type HandOverApp = Awaited<ReturnType<typeof handOverApp>>;
