import { type Person, type QuestionKey, submissionKeyOf } from '../answers/answer.ts';
import type { Claims } from '../answers/claims.ts';
import type { DraftStore } from '../answers/ports.ts';
import { type Clock, uptimeOf } from '../clock.ts';
import { keepNewest } from '../keep-newest.ts';
import { type FormReading, readForm } from './form.ts';
import type { ViewSnapshot } from './listen.ts';
import { decodeMetadata, type ViewMetadata } from './metadata.ts';
import { KEPT_ASIDE } from './session/draft-for.ts';

/** A claim is prolonged at most this often while somebody types. */
const CLAIM_EVERY_MS = 60_000;
/** Forms that are remembered. */
const MOST_FORMS = 2_000;

interface Dependencies {
	readonly service: string;
	readonly drafts: DraftStore;
	readonly claims: Claims;
	readonly clock: Clock;
}

/** A form as it stands in somebody's view. */
export interface StandingForm {
	/** `secret` as the box says now. */
	readonly metadata: ViewMetadata;
	readonly reading: FormReading;
	/** When it stood so, milliseconds since the epoch. */
	readonly at: number;
}

/**
 * Keeps what people type. While one save of a form runs, only the newest state of it waits: typing fast costs no more
 * than the store can take.
 */
export function createDrafting({ service, drafts, claims, clock }: Dependencies) {
	const saving = new Map<string, { next: (() => Promise<void>) | null }>();
	const claimedAt = new Map<string, number>();
	/** What the box of a form said when it was pressed last: what was typed before may be heard of after it. */
	const marked = new Map<string, readonly number[]>();

	function keyOf(metadata: ViewMetadata): QuestionKey | null {
		const { sessionId, messageIndex } = metadata;
		return messageIndex === null ? null : { service, sessionId, messageIndex };
	}

	async function saveLatest(formId: string, save: () => Promise<void>): Promise<void> {
		const busy = saving.get(formId);
		if (busy !== undefined) {
			busy.next = save;
			return;
		}
		const slot: { next: (() => Promise<void>) | null } = { next: save };
		saving.set(formId, slot);
		try {
			for (let next = slot.next; next !== null; next = slot.next) {
				slot.next = null;
				await next();
			}
		} finally {
			saving.delete(formId);
		}
	}

	async function prolongClaim(key: QuestionKey, person: Person, formId: string): Promise<void> {
		const now = uptimeOf(clock);
		if (now - (claimedAt.get(formId) ?? Number.NEGATIVE_INFINITY) < CLAIM_EVERY_MS) return;
		keepNewest(claimedAt, formId, now, MOST_FORMS);
		await claims.take(key, person);
	}

	/** What stands in a view's form; null when the view is none of ours or of another version. */
	async function read(view: ViewSnapshot, acted?: string): Promise<StandingForm | null> {
		const metadata = decodeMetadata(view.privateMetadata);
		if (metadata === null) return null;
		const at = clock.now();
		const draft = metadata.offered.length === 0 ? null : await drafts.get(metadata.formId);
		const reading = readForm({
			values: view.values,
			metadata,
			draft: draft?.values ?? {},
			...(acted === undefined ? {} : { acted }),
		});
		return { metadata: { ...metadata, secret: reading.secret }, reading, at };
	}

	/** `viewId` null: kept although the form was submitted before. */
	async function keep(person: Person, viewId: string | null, { metadata, reading, at }: StandingForm): Promise<void> {
		const question = keyOf(metadata);
		const { formId, fingerprint } = metadata;
		if (question === null || fingerprint === null || metadata.fields.length === 0) return;
		const values = without(reading.draft, marked.get(formId) ?? []);
		const { secret } = reading;
		const draft = { formId, person, question, fingerprint, values, secret, updatedAt: at };
		await saveLatest(formId, () => drafts.save(draft, viewId === null ? undefined : submissionKeyOf(viewId, formId)));
	}

	/** Others see that this person is not answering now. */
	async function left(person: Person, view: ViewSnapshot): Promise<void> {
		const metadata = decodeMetadata(view.privateMetadata);
		const key = metadata === null ? null : keyOf(metadata);
		if (key !== null) await claims.release(key, person);
	}

	return {
		read,
		keep,
		/** Somebody typed. */
		async typed(person: Person, view: ViewSnapshot, acted: string): Promise<void> {
			const form = await read(view, acted);
			if (form === null) return;
			await keep(person, view.id, form);
			const key = keyOf(form.metadata);
			if (key !== null) await prolongClaim(key, person, form.metadata.formId);
		},
		left,
		/** Somebody pressed the box that says what is secret: texts typed so far are kept no longer, in no draft of theirs. */
		async marked(person: Person, view: ViewSnapshot, acted: string): Promise<StandingForm | null> {
			const form = await read(view, acted);
			const question = form === null ? null : keyOf(form.metadata);
			if (form === null || question === null) return null;
			const { secret } = form.reading;
			keepNewest(marked, form.metadata.formId, secret, MOST_FORMS);
			await keep(person, view.id, form);
			if (secret.length > 0) {
				await drafts.forget(person, question, secret);
				// A chosen message is kept under the first field that it could be for, whichever it was put into.
				await drafts.forget(person, { ...question, messageIndex: KEPT_ASIDE }, form.metadata.fields);
			}
			return form;
		},
		/** Somebody closed a form: what Slack still tells of it is kept, and others see that nobody is answering now. */
		async closed(person: Person, view: ViewSnapshot): Promise<void> {
			await left(person, view);
			const form = await read(view);
			// Not documented whether the state comes along: an empty one must not wipe what typing has told.
			if (form !== null && Object.values(form.reading.draft).some((text) => text !== '')) {
				await keep(person, view.id, form);
			}
		},
	};
}

function without(values: Readonly<Record<number, string>>, secret: readonly number[]): Record<number, string> {
	return Object.fromEntries(Object.entries(values).filter(([position]) => !secret.includes(Number(position))));
}

export type Drafting = ReturnType<typeof createDrafting>;
