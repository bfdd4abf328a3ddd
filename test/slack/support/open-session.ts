import type { Modal } from '../../../fake-slack/index.ts';
import { HIDES_ANSWER, HIDES_ANSWERS } from '../../../src/slack/form/build.ts';
import type { startApp } from '../../support/app.ts';

/** The fields of a form, without the box that says what is kept secret. */
export function answerFields(modal: Modal): ReturnType<Modal['fields']> {
	return modal.fields().filter(({ actionId }) => actionId !== 'form.secret');
}

/** Has an answer kept secret, by the form's menu: of several items, those of these names in the box. */
export async function keepSecret(modal: Modal, until: (test: () => boolean) => Promise<unknown>, ...items: string[]) {
	const hasBox = () => modal.fields().some(({ actionId }) => actionId === 'form.secret');
	const menu = [HIDES_ANSWER, HIDES_ANSWERS].find((label) => modal.buttons().includes(label));
	if (!hasBox()) await modal.press(menu ?? '');
	await until(hasBox);
	if (items.length > 0) await modal.choose(HIDES_ANSWERS, items);
}

export type App = Awaited<ReturnType<typeof startApp>>;

/** Types `/session <id>` and waits for the session's content in the modal. */
export async function openSession(app: App, id: string, who = 'ada', channel = '#agents'): Promise<Modal> {
	const person = app.slack.as(who);
	const before = person.modal()?.id;
	const outcome = await person.command(channel, `/session ${id}`);
	if (!outcome.ok) throw new Error(`/session ${id} failed with ${outcome.error}`);
	return person.waitForModal((modal) => modal.id !== before && !modal.text().includes('Looking at session'));
}
