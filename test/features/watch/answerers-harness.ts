import { handOverApp } from '../hand-over/harness.ts';
import { settingsOf } from '../settings/harness.ts';

/** The label of the list. */
export const WHO = 'Who may answer';
/** In the footer of a post. */
export const ONLY = (names: string) => `Only ${names} may answer.`;

/** The whole program, and channels that name who may answer. bob, cleo and dan are members of #agents. */
export async function answererApp(...options: Parameters<typeof handOverApp>) {
	const app = await handOverApp(...options);
	const settings = settingsOf(app);
	let count = 0;

	return {
		...app,
		...settings,
		/** Somebody names these people in a channel; resolves when it was told. */
		async names(people: readonly string[], who = 'ada', channel = '#agents'): Promise<void> {
			const { outcome, modal } = await settings.save({ [WHO]: people }, { who, channel });
			if (outcome !== 'updated') throw new Error(`not saved: ${modal.text()}`);
			count += 1;
			await app.until(() => settings.changes(channel).length >= count);
			await app.slack.as(who).modal()?.close();
		},
		/** Waits until somebody reads these words in a message only for them. */
		refused: (who: string, words: string, channel = '#agents') =>
			app.until(
				() =>
					app.slack
						.as(who)
						.messages(channel)
						.find((one) => one.isEphemeral() && one.text().includes(words)),
				() =>
					app.slack
						.as(who)
						.messages(channel)
						.map((one) => one.text())
						.join('\n--\n'),
			),
	};
}

export type AnswererApp = Awaited<ReturnType<typeof answererApp>>;
