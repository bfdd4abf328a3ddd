import { expect } from 'vitest';
import { itemsOf } from '../../../fake-session-service/log.ts';
import type { Modal } from '../../../fake-slack/index.ts';
import { type App, answerFields } from '../../slack/support/open-session.ts';
import type { TimedApp } from '../../slack/support/timed-app.ts';
import { DELIVERED } from '../../support/sentences.ts';

/** Presses a button and waits until the view has its new content. */
export async function press(app: Pick<TimedApp, 'until'>, modal: Modal, label: string): Promise<void> {
	const { hash } = modal.view();
	expect(await modal.press(label)).toBe(true);
	await app.until(
		() => modal.view().hash !== hash,
		() => `"${label}" changed nothing in: ${modal.text()}`,
	);
}

/** What the fields of a form hold. */
export const valuesIn = (modal: Modal) => answerFields(modal).map((field) => field.value);

/** The values of the answers that arrived. */
export const arrived = (app: Pick<App, 'service'>, id: string) =>
	app.service.log.savedPuts(id).map((put) => itemsOf(put).map(({ value }) => value));

/** Sends the form; `values` is what arrives, once. */
export async function sends(app: TimedApp, { id, modal }: { id: string; modal: Modal }, values: readonly string[]) {
	expect((await modal.submit()).outcome).toBe('updated');
	await app.shows(DELIVERED);
	expect(arrived(app, id)).toEqual([values]);
}
