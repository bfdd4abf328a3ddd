import type { ItemJson } from '../../../fake-session-service/json.ts';
import { watchingApp } from '../../sessions/harness.ts';
import { says } from '../../support/sentences.ts';

/** With more sessions, waiting for each would take minutes. */
const IN_ORDER = 3;
/** After it was opened, on the clock. */
const DRAWN_WITHIN_MS = 3_000;

/** The whole program, and people who look at their inbox. */
export async function inboxApp(options: Parameters<typeof watchingApp>[0] = {}) {
	const app = await watchingApp(options);
	const textOf = (who: string) => app.slack.as(who).home()?.text() ?? 'no Home';
	const windowOf = (who: string) => app.slack.as(who).modal()?.text() ?? 'no modal';
	/** Waits until `text` holds these words, and until it holds none of `notThese`. */
	const waitFor = (text: () => string, words: string | RegExp, notThese: readonly string[] = []) =>
		app.until(
			() => says(text(), words) && !notThese.some((one) => text().includes(one)) && text(),
			() => `waited for ${words} and got:\n${text()}`,
		);
	/** How often a Home tab was published to this person. */
	const publishedTo = (who = 'ada') =>
		app
			.calls('views.publish')
			.filter(({ request, doneAt }) => request.user_id === app.slack.as(who).user && doneAt !== null).length;

	return {
		...app,
		textOf,
		/** What this person's Home shows. */
		home(who = 'ada') {
			const view = app.slack.as(who).home();
			if (view === null) throw new Error(`${who} has no Home`);
			return view;
		},
		homeSays: (words: string | RegExp, { who = 'ada', without = [] as readonly string[] } = {}) =>
			waitFor(() => textOf(who), words, without),
		windowSays: (words: string | RegExp, { who = 'ada', without = [] as readonly string[] } = {}) =>
			waitFor(() => windowOf(who), words, without),
		/** Opens the Home tab; resolves to its text once the inbox is in it. One that shows it already is not published again. */
		async openHome(who = 'ada'): Promise<string> {
			const before = publishedTo(who);
			const enoughAt = app.slack.as(who).home() === null ? Number.POSITIVE_INFINITY : app.clock.now() + DRAWN_WITHIN_MS;
			await app.slack.as(who).openApp('home');
			await app.until(
				() => publishedTo(who) > before || app.clock.now() > enoughAt,
				() => `${who} got no Home`,
			);
			return textOf(who);
		},
		publishedTo,
		/** Sessions named so, watched in a channel, whose agents ask about them; a few of them in this order. */
		async askedIn(channel: string, names: readonly string[], items?: readonly (string | ItemJson)[]) {
			const ids: string[] = [];
			for (let first = 0; first < names.length; first += 20) {
				const some = names.slice(first, first + 20).map((name) => app.session({ name }));
				await app.command(`/session watch ${some.join(' ')}`, 'ada', channel);
				ids.push(...some);
			}
			await app.until(() => ids.every((id) => app.card(id, channel) && app.service.log.reads(id).length > 1));
			await app.pass(1_500);
			const isPosted = (id: string) => app.thread(id, channel).some((post) => post.text().includes('asks'));
			for (const id of ids) {
				app.ask(id, items);
				if (ids.length <= IN_ORDER) await app.until(() => isPosted(id));
			}
			for (const id of ids) await app.until(() => isPosted(id));
			return ids;
		},
	};
}

export type InboxApp = Awaited<ReturnType<typeof inboxApp>>;
