import { randomBytes } from 'node:crypto';
import { type Person, type QuestionKey, submissionKeyOf } from '../../answers/answer.ts';
import type { Claims } from '../../answers/claims.ts';
import type { Draft, DraftStore } from '../../answers/ports.ts';
import { setBounded } from '../../bounded-map.ts';
import { type Clock, uptimeOf } from '../../clock.ts';
import type { Question } from '../../questions/open-question.ts';
import { asksTheSame } from '../form/plan.ts';
import { type FormReading, readForm } from '../form/read.ts';
import { decodeMetadata, type ViewMetadata } from '../metadata.ts';
import type { ViewSnapshot } from '../request.ts';
import type { Notice } from '../words/notices.ts';

/** A claim is prolonged at most this often while somebody types. */
const CLAIM_EVERY_MS = 60_000;
/** Forms that are remembered. */
const MOST_FORMS = 2_000;

/** By position. */
export type Values = Readonly<Record<number, string>>;

/** What stood in a view's fields at a time; what was typed later is in the form's draft. */
export interface TypedText {
	readonly values: Values;
	/** Milliseconds since the epoch. */
	readonly at: number;
}

/**
 * The message index under which a chosen message is kept until somebody says which field it is for: as a draft of the
 * question itself it would stand in one before.
 */
export const KEPT_ASIDE = -1;

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
	interface Slot {
		next: (() => Promise<void>) | null;
	}
	/** Forms that are being saved; `next`: what is saved after that. */
	const saving = new Map<string, Slot>();
	const claimedAt = new Map<string, number>();
	/** What the box of a form said when it was pressed last: typing from before that may be reported after it. */
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
		const slot: Slot = { next: save };
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
		setBounded(claimedAt, formId, now, MOST_FORMS);
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
			setBounded(marked, form.metadata.formId, secret, MOST_FORMS);
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

export type Drafting = ReturnType<typeof createDrafting>;

/** What stands in a view's fields; null when there is no form, so that a draft may come in. */
export function typedIn({ metadata, reading, at }: StandingForm): TypedText | null {
	return metadata.fields.length === 0 ? null : { values: reading.values, at };
}

/** A form's own id. */
export function newFormId(): string {
	return randomBytes(9).toString('base64url');
}

/** Texts of secret items are neither kept nor carried over. */
export function without(values: Values, secret: readonly number[]): Values {
	return Object.fromEntries(Object.entries(values).filter(([position]) => !secret.includes(Number(position))));
}

/** What a form starts with, and what to say about it. */
interface StartingValues {
	readonly values: Values;
	readonly notice: Notice | null;
	/** It is another form than the one the view showed: it gets an id of its own. */
	readonly isNewForm: boolean;
}

/**
 * What to put into the fields of `question`, in this order: what stands in the view now, if it asks the same; that text
 * carried over by position, if the view asked something else; a message chosen with "Use as answer"; the person's draft.
 */
export function startingValues(input: {
	question: Question;
	metadata: ViewMetadata;
	/** What stands in the view's fields; null when it has none yet. */
	typed: Values | null;
	prefill: Values | null;
	draft: Draft | null;
}): StartingValues {
	const { question, metadata, typed, prefill, draft } = input;
	if (typed !== null && metadata.fields.length > 0) {
		if (asksTheSame(metadata, question)) return { values: typed, notice: null, isNewForm: false };
		const values = fitting(typed, question);
		return { values, notice: { kind: 'questionChanged', carried: Object.keys(values).length > 0 }, isNewForm: true };
	}
	if (prefill !== null) {
		const values = { ...(draft === null ? {} : fitting(draft.values, question)), ...fitting(prefill, question) };
		return { values, notice: { kind: 'prefilled' }, isNewForm: false };
	}
	if (draft !== null) {
		const values = fitting(draft.values, question);
		if (Object.keys(values).length > 0) {
			return { values, notice: { kind: 'draftRestored', at: draft.updatedAt }, isNewForm: false };
		}
	}
	return { values: {}, notice: null, isNewForm: false };
}

/** The texts that have an open item to go to. */
function fitting(values: Values, question: Question): Values {
	return Object.fromEntries(
		Object.entries(values).filter(([position, text]) => text !== '' && question.openItems.includes(Number(position))),
	);
}
