import { expect } from 'vitest';
import { itemsOf } from '../../../fake-session-service/log.ts';
import type { Modal } from '../../../fake-slack/index.ts';
import { type App, answerFields } from '../../slack/support/open-session.ts';
import { DELIVERED } from '../../support/sentences.ts';

/** Presses a button and waits until the view has its new content. */
export async function press(app: App, modal: Modal, label: string): Promise<void> {
	const { hash } = modal.view();
	expect(await modal.press(label)).toBe(true);
	await app.slack.changes.until(
		() => modal.view().hash !== hash,
		() => `"${label}" changed nothing in: ${modal.text()}`,
	);
}

/** What the fields of a form hold. */
export const valuesIn = (modal: Modal) => answerFields(modal).map((field) => field.value);

/** The values of the answers that arrived. */
export const arrived = (app: App, id: string) =>
	app.service.log.savedPuts(id).map((put) => itemsOf(put).map(({ value }) => value));

/** Sends the form; `values` is what arrives, once. */
export async function sends(app: App, { id, modal }: { id: string; modal: Modal }, values: readonly string[]) {
	expect((await modal.submit()).outcome).toBe('updated');
	await app.slack.as('ada').waitForModal(DELIVERED);
	expect(arrived(app, id)).toEqual([values]);
}
