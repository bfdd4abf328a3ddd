import { ACTIONS } from '../../../src/slack/ids.ts';
import { settingsOf } from '../../people/settings/harness.ts';
import type { WatchingApp } from '../../sessions/harness.ts';
import { ACTS, type Member } from './acts.ts';
import type { Listed } from './table.ts';

/** The kinds in the order in which they act: whoever uses things up comes last. */
export const LISTED_IN_ORDER: readonly Listed[] = [
	'not named',
	'named once, and taken out',
	'not named, watches the session in a channel without a list',
	'not named, watches it in a channel of their own that names them',
	'not named, has the question by hand-over',
	'named',
];

/** How somebody came to be on the list or not is the same for every act. */
export const LISTED_FOR_EVERY_ACT: readonly Listed[] = ['not named', 'named once, and taken out', 'named'];

/** Where a list decides, and one or two of the others: with all of them, too much is watched for a test. */
const NAMES: readonly string[] = [
	'/session open',
	'/session inbox',
	'/session unwatch',
	'/session help',
	ACTIONS.answer,
	ACTIONS.answerAgain,
	ACTIONS.choose1,
	`${ACTIONS.choose1}, on a copy`,
	ACTIONS.handOver,
	`${ACTIONS.handOver}, on a copy`,
	ACTIONS.giveBack,
	ACTIONS.sendReply,
	ACTIONS.undo,
	ACTIONS.tryAgain,
	ACTIONS.unwatch,
	ACTIONS.field,
	'Send answer',
	'Hand over, in its window',
	'closing a form',
];
export const WITH_LISTS = ACTS.filter(({ name }) => NAMES.includes(name));

/** All members are in it. */
const GROUP = 'Operations (@ops)';
/** A channel of the members, in which the app is. */
export const OWN_CHANNEL = 'secret';
/** Of one command. */
const MOST_IDS = 20;

/**
 * What happens before everybody acts as one kind of person of the table: #agents names people as those who may answer
 * what it watches (`isWatched`), or has watched.
 */
export function createLists(
	app: WatchingApp,
	members: readonly Member[],
	{ isWatched }: { readonly isWatched: boolean },
): Readonly<Record<Listed, () => Promise<void>>> {
	const settings = settingsOf(app);
	const [first] = members;
	if (first === undefined) throw new Error('nobody acts');

	/** Names these people and the group, or nobody of it. */
	async function name(
		people: readonly string[],
		groups: readonly string[],
		place = { who: 'ada', channel: '#agents' },
	) {
		const count = settings.changes(place.channel).length;
		const choices = { 'Who may answer': people, 'User groups that may answer': groups };
		const { outcome, modal } = await settings.save(choices, place);
		if (outcome !== 'updated') throw new Error(`not saved: ${modal.text()}`);
		await settings.told(count + 1, place.channel);
		await app.slack.as(place.who).modal()?.close(true);
	}

	const ids = members.map(({ session }) => session);
	async function eachTwenty(command: 'watch' | 'unwatch'): Promise<void> {
		for (let from = 0; from < ids.length; from += MOST_IDS)
			await app.command(`/session ${command} ${ids.slice(from, from + MOST_IDS).join(' ')}`);
	}

	async function handOverAll(): Promise<void> {
		for (const [index, { name: member, session }] of members.entries()) {
			// Of a receipt, it was answered.
			if (app.service.sessions.get(session).status !== 'humanInput') continue;
			// Nobody hands over more than ten in ten minutes.
			const from = index % 2 === 0 ? 'ada' : 'grace';
			const post = await app.until(() => app.thread(session).findLast((one) => one.buttons().includes('Hand over')));
			await app.seenBy(from, post).press('Hand over');
			const modal = await app.slack.as(from).waitForModal('Hand over to');
			await modal.choose('Hand over to', member);
			await settings.submit(modal);
			await app.until(
				() => post.text().includes(`${member} has it`),
				() => `${post.text()}\n${modal.text()}`,
			);
			await modal.close(true);
		}
	}

	return {
		async 'not named'() {
			await eachTwenty('watch');
			if (!isWatched) await eachTwenty('unwatch');
			await name(['ada'], []);
		},
		async 'named once, and taken out'() {
			await name(['ada'], [GROUP]);
			await name(['ada'], []);
		},
		async 'not named, watches the session in a channel without a list'() {
			for (const { name: member, session } of members)
				await app.command(`/session watch ${session}`, member, `#${OWN_CHANNEL}`);
		},
		'not named, watches it in a channel of their own that names them': () =>
			name([], [GROUP], { who: first.name, channel: `#${OWN_CHANNEL}` }),
		async 'not named, has the question by hand-over'() {
			await name(['ada'], [GROUP]);
			await handOverAll();
			await name(['ada'], []);
		},
		named: () => name(['ada'], [GROUP]),
	};
}
