import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Modal } from '../../../fake-slack/index.ts';
import { watchingApp } from '../../sessions/harness.ts';

const CHANGED = /changed (?:the (?:reminders|settings) of|who may answer in)/;

/** The whole program, and people who change the settings of channels. `escalates`: as for `settingsOf`. */
export async function settingsApp({
	escalates,
	...options
}: Parameters<typeof watchingApp>[0] & { escalates?: string | null } = {}) {
	const app = await watchingApp(options);
	return { ...app, ...settingsOf(app, escalates) };
}

/**
 * What people do with the settings of channels, in this program. `escalates`: what they choose for *Escalate after* with
 * whom to mention, when it is off, or nobody could be mentioned; null: nothing.
 */
export function settingsOf(
	app: Pick<Awaited<ReturnType<typeof watchingApp>>, 'slack' | 'until' | 'during' | 'inChannel' | 'dataDir'>,
	escalates: string | null = '1 day',
) {
	const textOf = (who: string) => app.slack.as(who).modal()?.text() ?? 'no modal';

	/** Waits until the person's window has these words in it. */
	async function windowSays(words: string, who = 'ada'): Promise<Modal> {
		await app.until(
			() => textOf(who).includes(words),
			() => `${who} waited for "${words}" in:\n${textOf(who)}`,
		);
		const modal = app.slack.as(who).modal();
		if (modal === null) throw new Error('there is no window');
		return modal;
	}

	/** Opens the settings of a channel; resolves when the window has these words in it. */
	async function openSettings({ who = 'ada', channel = '#agents', words = '[Save]' } = {}): Promise<Modal> {
		await app.slack.as(who).modal()?.close(true);
		const outcome = await app.slack.as(who).command(channel, '/session settings');
		if (!outcome.ok) throw new Error(`the command failed with ${outcome.error}`);
		return windowSays(words, who);
	}

	/** Presses *Save* while the program's clock moves. */
	const submit = (modal: Modal) => app.during(modal.submit());

	/** What the bot told the channel of changed settings. */
	const changes = (channel = '#agents') =>
		app
			.inChannel(channel)
			.map((post) => post.text())
			.filter((text) => CHANGED.test(text));

	return {
		windowSays,
		openSettings,
		submit,
		changes,
		/** Works on the program's database, while it is stopped. */
		onDatabase(work: (database: DatabaseSync) => void): void {
			using database = new DatabaseSync(join(app.dataDir, 'handraise.db'));
			work(database);
		},
		/** Opens the settings, makes these choices by label, and saves. */
		async save(
			choices: Readonly<Record<string, string | readonly string[]>>,
			place: { who?: string; channel?: string } = {},
		) {
			const modal = await openSettings(place);
			const mentions = [choices.Mention, choices['Mention user groups']].some((list) => (list?.length ?? 0) > 0);
			const isOff = modal.value('Escalate after') === 'Off' && !('Escalate after' in choices);
			const time = mentions && isOff && escalates !== null ? { 'Escalate after': escalates } : {};
			for (const [label, choice] of Object.entries({ ...time, ...choices })) {
				const isEmptied = choice.length === 0 && modal.value(label)?.length !== 0;
				const { updates } = modal.view();
				if (label === 'Time zone') await modal.fill(label, String(choice));
				else await modal.choose(label, choice);
				// As fast as a person, not faster.
				if (isEmptied) await app.until(() => modal.view().updates !== updates);
			}
			const result = await submit(modal);
			return { modal, ...result };
		},
		/** Waits until the channel was told of so many changes; resolves to the newest. */
		async told(count: number, channel = '#agents'): Promise<string> {
			await app.until(() => changes(channel).length >= count);
			return changes(channel).at(-1) ?? '';
		},
	};
}

export type SettingsApp = Awaited<ReturnType<typeof settingsApp>>;
