import type { Core } from '../../core.ts';
import type { Draft, DraftStore } from '../../delivery/draft-store.ts';
import { submissionKeyOf } from '../../domain/answer.ts';
import { isSamePerson, type Person } from '../../domain/person.ts';
import type { Question, QuestionKey } from '../../domain/session.ts';
import { MINUTE_MS, uptimeOf } from '../../kernel/clock.ts';
import { codeOf } from '../../kernel/errors.ts';
import { setBounded } from '../../kernel/memory.ts';
import { pick } from '../../kernel/values.ts';
import type { ModalView } from '../../slack/blocks.ts';
import { readForm, type Values, withoutPositions } from '../../slack/form/fields.ts';
import type { ViewMetadata } from '../../slack/ids.ts';
import type { SubmittedSessionView, SubmittedView } from '../../slack/request.ts';
import type { ViewHandle } from '../../slack/view-handle.ts';
import { CLAIM_MS } from '../../store/schema/answers.ts';
import type { ViewStore } from '../../surfaces/view-store.ts';
import { agentTextsIn, needsAgentTexts, optionText } from './agent-texts.ts';

const MAX_FORMS = 2_000;

/** Texts to fill into a form. `givenFor`: the question that they answered; null: the one that the form shows. */
export interface Prefill {
	readonly values: Values;
	readonly givenFor: Pick<Draft, 'fingerprint' | 'shownHash'> | null;
}

/** The message index of a chosen message until the person says which field it is for: no form shows it before. */
const KEPT_ASIDE = -1;
/** The message index of what an agent wrote for a form: see `agent-texts.ts`. */
const OF_AGENT = -2;
const agentFormId = (formId: string) => `${formId}.agent`;

interface FormInView {
	readonly question: Question | null;
	readonly metadata: ViewMetadata;
	/** Why the person may not answer it; null: they may. */
	readonly refused?: unknown;
}

/** A form as somebody sees it, with what they have typed. */
export interface OpenForm {
	readonly view: SubmittedView;
	/** Of the view, with the positions that are ticked now as `secret`. */
	readonly metadata: ViewMetadata;
	/** What its fields held at `at` (milliseconds since the epoch). What is typed later is in the form's draft. */
	readonly typed: Readonly<ReturnType<typeof readForm>> & { readonly at: number };
}

/** Saves what people type. While it saves a form, only the newest state waits: fast typing cannot flood the store. */
export function createDrafting({ serviceUrl, store, clock, log }: Core<{ drafts: DraftStore; views: ViewStore }>) {
	const { drafts, views } = store;
	/** The next save of each form that is being saved; null: none. */
	const nextSaves = new Map<string, (() => Promise<void>) | null>();
	const claimedAt = new Map<string, number>();
	/** The ticked positions when a form's box was pressed last: Slack may report earlier typing after that. */
	const tickedPositions = new Map<string, readonly number[]>();

	function keyOf(metadata: ViewMetadata): QuestionKey | null {
		const { sessionId, messageIndex } = metadata;
		return messageIndex === null ? null : { service: serviceUrl, sessionId, messageIndex };
	}

	async function saveLatest(formId: string, save: () => Promise<void>): Promise<void> {
		const isSaving = nextSaves.has(formId);
		nextSaves.set(formId, save);
		if (isSaving) return;
		try {
			for (let next = nextSaves.get(formId); next; next = nextSaves.get(formId)) {
				nextSaves.set(formId, null);
				await next().catch((error: unknown) => {
					// A newer state that waits is saved instead.
					if (nextSaves.get(formId) === null) throw error;
				});
			}
		} finally {
			nextSaves.delete(formId);
		}
	}

	async function read(view: SubmittedSessionView, actedBlockId?: string): Promise<OpenForm> {
		const { metadata } = view;
		const at = clock.now();
		const [draft, agent] = needsAgentTexts(view)
			? await Promise.all([drafts.get(metadata.formId), drafts.get(agentFormId(metadata.formId))])
			: [null, null];
		const kept = agent?.values ?? {};
		const reading = readForm({
			...view,
			draft: { ...kept, ...draft?.values },
			optionText: (position, value) => optionText(kept, position, value),
			acted: actedBlockId,
		});
		return { view, metadata: { ...metadata, secret: reading.secret }, typed: { ...reading, at } };
	}

	/** Saves a form as a draft, after its submission only with `isSubmitted`. */
	async function keep(person: Person, { view, metadata, typed }: OpenForm, isSubmitted = false): Promise<void> {
		const question = keyOf(metadata);
		const { formId, fingerprint, shownHash, sessionName } = metadata;
		if (question === null || fingerprint === null || metadata.fields.length === 0) return;
		const values = withoutPositions(typed.draft, tickedPositions.get(formId) ?? []);
		const { secret, at: updatedAt } = typed;
		const draft = { formId, person, question, fingerprint, shownHash, sessionName, values, secret, updatedAt };
		await saveLatest(formId, () => drafts.save(draft, isSubmitted ? undefined : submissionKeyOf(view.id, formId)));
	}

	/** Ends the claim of a person who closed the view. Slack may report earlier typing later: it changes only a draft. */
	async function left(person: Person, { id, metadata }: SubmittedSessionView): Promise<void> {
		if (keyOf(metadata) !== null) await noted(views.formClosed(id, person, clock.now()));
	}

	/** Logs a failure. A window that is not stored gets no notices, which harms nothing else. */
	async function noted(work: Promise<unknown>): Promise<void> {
		await work.catch((error: unknown) => log.warn('window_not_stored', { code: codeOf(error) }));
	}

	return {
		read,
		keep,
		/** The window of a receipt is about to show something else. */
		leaveReceipt: (viewId: string) => noted(views.leaveReceipt(viewId)),
		/** The view with the hash of a notice that it got after the press. Null when none is known. */
		async afterNotice(view: SubmittedView): Promise<SubmittedView | null> {
			const hash = await views.noticeHash(view.id).catch(() => null);
			return hash === null || hash === view.hash ? null : { ...view, hash };
		},
		/** Stores which question a view shows (null: none), so that it gets notices. Whoever may answer it claims it. */
		async shown(person: Person, { id, hash }: ViewHandle, view: ModalView, shown: FormInView): Promise<void> {
			const { question: asked, metadata, refused = null } = shown;
			// Slack's response to the opening, or to the update, was lost: they are answering once they type.
			if (id === null || hash === '') return;
			const question = asked && keyOf({ ...metadata, messageIndex: asked.messageIndex });
			if (asked === null || question === null) return noted(views.remove({ id }));
			const now = clock.now();
			const claimUntil = refused === null ? now + CLAIM_MS : null;
			const submissionKey = submissionKeyOf(id, metadata.formId);
			const form = { person, question, ...pick(asked, 'fingerprint', 'shownHash'), hash, claimUntil, submissionKey };
			await noted(views.formShown(id, form, view, now));
		},
		async save(person: Person, view: SubmittedSessionView): Promise<OpenForm> {
			const form = await read(view);
			await keep(person, form);
			return form;
		},
		async typed(person: Person, view: SubmittedSessionView, actedBlockId: string): Promise<void> {
			await keep(person, await read(view, actedBlockId));
			const { formId } = view.metadata;
			const key = keyOf(view.metadata);
			const now = uptimeOf(clock);
			// While somebody types, the claim is prolonged once a minute.
			const isClaimed = now - (claimedAt.get(formId) ?? Number.NEGATIVE_INFINITY) < MINUTE_MS;
			if (key === null || isClaimed) return;
			setBounded(claimedAt, formId, now, MAX_FORMS);
			const claimUntil = clock.now() + CLAIM_MS;
			const { fingerprint, shownHash } = view.metadata;
			const submissionKey = submissionKeyOf(view.id, formId);
			const form = { person, question: key, fingerprint, shownHash, hash: view.hash, claimUntil, submissionKey };
			await noted(views.typed(view.id, form, clock.now()));
		},
		left,
		/** Saves a message until its author says whether it is an answer, and to which field. False for a used form id. */
		async keepAside(
			person: Person,
			{ formId, sessionId, sessionName }: Pick<ViewMetadata, 'formId' | 'sessionId' | 'sessionName'>,
			{ fingerprint, shownHash }: NonNullable<Prefill['givenFor']>,
			values: Values,
		): Promise<boolean> {
			const question = { service: serviceUrl, sessionId, messageIndex: KEPT_ASIDE };
			const updatedAt = clock.now();
			return drafts.addNew({ formId, person, question, fingerprint, shownHash, sessionName, values, updatedAt });
		},
		/** Keeps what the agent wrote for a form that Slack may not give back whole. */
		async keepAgentTexts(person: Person, formId: string, question: Question, sessionId: string): Promise<void> {
			const values = agentTextsIn(question);
			if (Object.keys(values).length === 0) return;
			await drafts.addNew({
				formId: agentFormId(formId),
				person,
				question: { service: serviceUrl, sessionId, messageIndex: OF_AGENT },
				...pick(question, 'fingerprint', 'shownHash'),
				values,
				updatedAt: clock.now(),
			});
		},
		/** The person's message and the question it was saved for; `text` null: it was sent, dismissed or removed. */
		async keptAside(person: Person, formId: string) {
			const draft = await drafts.get(formId);
			const isOwn = draft !== null && isSamePerson(draft.person, person);
			return isOwn ? { draft, text: Object.values(draft.values)[0] ?? null } : null;
		},
		/** Forgets the text of a saved message. That there was one stays. */
		letGo: (draft: Draft) => drafts.save({ ...draft, values: {}, secret: [] }),
		discard: ({ person, question }: Draft) => drafts.discard({ person, question }),
		/** Removes the texts of ticked items from the person's drafts. Everybody may do that, but not `keep` the form. */
		async ticked(person: Person, view: SubmittedSessionView, actedBlockId: string): Promise<OpenForm> {
			const form = await read(view, actedBlockId);
			const question = keyOf(form.metadata);
			if (question === null) return form;
			const { secret } = form.typed;
			setBounded(tickedPositions, form.metadata.formId, secret, MAX_FORMS);
			if (secret.length > 0) {
				await drafts.forget(person, question, secret);
				// A chosen message is saved under the first field that it fits, wherever it was put.
				await drafts.forget(person, { ...question, messageIndex: KEPT_ASIDE }, form.metadata.fields);
			}
			return form;
		},
		/** The person closed a form: releases the claim and saves the texts that Slack sends with the closing. */
		async closed(person: Person, view: SubmittedSessionView): Promise<void> {
			await left(person, view);
			const form = await read(view);
			// Slack does not document whether a closing has the state. An empty state must not erase the draft.
			if (Object.values(form.typed.draft).some((text) => text !== '')) await keep(person, form);
		},
	};
}

export type Drafting = ReturnType<typeof createDrafting>;
