import { handOverApp } from '../hand-over/harness.ts';
import { settingsOf } from '../settings/harness.ts';

/** The label of the list. */
export const WHO = 'Who may answer';
const GROUPS = 'User groups that may answer';
/** In the footer of a post. `by`: other channels whose lists decide. */
export const ONLY = (names: string, by = '') =>
	by === '' ? `Only ${names} may answer.` : `Only ${names} may answer · named in ${by}`;

/** The whole program, and channels that name who may answer. bob, cleo and dan are members of #agents. */
export async function answererApp(...options: Parameters<typeof handOverApp>) {
	const app = await handOverApp(...options);
	const settings = settingsOf(app);
	const counts = new Map<string, number>();

	return {
		...app,
		...settings,
		/** Somebody names these people and user groups in a channel; resolves when it was told. */
		async names(people: readonly string[], who = 'ada', channel = '#agents', groups?: readonly string[]) {
			const chosen = { [WHO]: people, ...(groups && { [GROUPS]: groups }) };
			const { outcome, modal } = await settings.save(chosen, { who, channel });
			// They are not among them, and go on.
			const asked = outcome === 'pushed' ? app.slack.as(who).modal() : null;
			const saved = asked === null ? outcome : (await settings.submit(asked)).outcome;
			if (saved !== 'updated') throw new Error(`not saved: ${modal.text()}`);
			const count = (counts.get(channel) ?? 0) + 1;
			counts.set(channel, count);
			await app.until(() => settings.changes(channel).length >= count);
			await app.slack.as(who).modal()?.close();
		},
		/** Whether somebody who opens this session gets a form, or else reads only. */
		async may(who: string, id: string, channel = '#agents'): Promise<boolean> {
			await app.slack.as(who).modal()?.close(true);
			await app.slack.as(who).command(channel, `/session ${id}`);
			const modal = await app.until(
				() => {
					const shown = app.slack.as(who).modal();
					const isShown = shown?.submitText() === 'Send answer' || /may answer\.|is left/.test(shown?.text() ?? '');
					return isShown && shown;
				},
				() => app.slack.as(who).modal()?.text() ?? 'no window',
			);
			const hasForm = modal.submitText() !== null;
			await modal.close(true);
			return hasForm;
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
