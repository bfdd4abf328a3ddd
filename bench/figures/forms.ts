import type { Actor, Json, Modal } from '../../fake-slack/index.ts';
import type { ReadyAnswer } from './answers.ts';
import { type Harness, lastCall } from './harness.ts';

const OPENED_AT_ONCE = 10;

/** Each person opens their session's form and types an answer. Nothing else may have happened since `meet`. */
export async function openForms(harness: Harness, actors: readonly Actor[], ids: readonly string[]): Promise<Modal[]> {
	for (let from = 0; from < actors.length; from += OPENED_AT_ONCE) {
		const to = from + OPENED_AT_ONCE;
		await harness.command(actors.slice(from, to), ids.slice(from, to));
		await harness.called(lastCall(harness), Math.min(to, actors.length));
	}
	const modals = actors.map((actor) => {
		const modal = actor.modal();
		if (modal?.submitText() == null) throw new Error(`No form opened: ${modal?.text() ?? 'no modal'}`);
		return modal;
	});
	for (const modal of modals) await modal.fill(0, 'The yearly report');
	return modals;
}

/** Everybody presses Submit at once. @throws Error when an acknowledgement does not say that the answer was taken */
export async function submitAll(modals: readonly Modal[]): Promise<void> {
	const results = await Promise.all(modals.map((modal) => modal.submit()));
	const other = results.find(({ outcome }) => outcome !== 'updated');
	if (other !== undefined) throw new Error(`A submission was answered with: ${JSON.stringify(other)}`);
}

/** The forms of `openForms` as answers that are ready to be given. */
export async function readyForms(harness: Harness, actors: readonly Actor[], ids: readonly string[]) {
	const modals = await openForms(harness, actors, ids);
	const sessions = new Map(actors.map((actor, index) => [actor.user, ids[index] ?? '']));
	return {
		delivery: 'view_submission',
		sessionOf: (request: Json) => sessions.get((request.user as { id: string }).id) ?? '',
		answers: modals.map(
			(modal, index): ReadyAnswer => ({ sessionId: ids[index] ?? '', give: () => submitAll([modal]) }),
		),
	} as const;
}
