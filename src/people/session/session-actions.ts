import { draftModal } from '../../screens/answer.ts';
import {
	ACTIONS,
	type ActionId,
	CALLBACKS,
	decodeQuestionRef,
	decodeTarget,
	type ViewMetadata,
} from '../../slack/ids.ts';
import {
	type AllowedRequest,
	forAnybody,
	ifAllowed,
	ifAllowedAnywhere,
	isOfSession,
	NOTHING_TO_DO,
	type PersonRequest,
	type Press,
	SILENTLY,
	type SubmittedSessionView,
	sessionViewOf,
	type Task,
	windowPlace,
} from '../../slack/request.ts';
import type { WatchCommands } from '../watching/watch-commands.ts';
import { createDrafting } from './drafts.ts';
import { registerHistory } from './history.ts';
import { type Commands, registerSessionCommand } from './session-command.ts';
import { createSessionFlow } from './session-flow.ts';

type Change = Partial<Pick<ViewMetadata, 'page' | 'partial' | 'plainText' | 'showsHidden'>>;

/** Registers `/session`, a session's modal and the buttons that open it. What it returns opens and fills forms. */
export function registerSession(
	core: Parameters<typeof registerHistory>[0] &
		Parameters<typeof createDrafting>[0] &
		Omit<Parameters<typeof createSessionFlow>[0], 'drafting'>,
	{ watching, ...commands }: { watching: WatchCommands } & Pick<Commands, 'openInbox' | 'openSettings'>,
) {
	const { listen, reply, noteOpened } = core;
	const drafting = createDrafting(core);
	const flow = createSessionFlow({ ...core, drafting });
	registerSessionCommand({ ...core, flow }, { ...watching, ...commands, openHistory: registerHistory(core) });

	/** Saves the texts in the fields as a draft and shows the view's session again. */
	async function showAgain(request: AllowedRequest, view: SubmittedSessionView, change: Change, sameReading = true) {
		const form = await drafting.save(request.person, view);
		await flow.show(request, { ...form, metadata: { ...form.metadata, ...change }, sameReading });
	}

	function onPress(id: ActionId, change: (press: Press) => Change, sameReading: boolean): void {
		listen.action(id, (_, press) => {
			const view = sessionViewOf(press.view);
			return ifAllowed(windowPlace(view.metadata), (request) => showAgain(request, view, change(press), sameReading));
		});
	}

	const page = ({ number }: Press): Change => ({ page: number });
	onPress(ACTIONS.refresh, () => ({ page: 0 }), false);
	onPress(ACTIONS.reload, () => ({}), false);
	onPress(ACTIONS.older, page, true);
	onPress(ACTIONS.newer, page, true);
	onPress(ACTIONS.partial, () => ({ partial: true }), true);
	onPress(ACTIONS.complete, () => ({ partial: false }), true);
	onPress(ACTIONS.plainText, () => ({ plainText: true }), true);
	onPress(ACTIONS.guessed, () => ({ plainText: false }), true);

	listen.action(ACTIONS.showHidden, (_, press) => {
		const view = sessionViewOf(press.view);
		const show = async (request: AllowedRequest) => {
			await showAgain(request, view, { showsHidden: true });
			await noteOpened(request, 'show', view.metadata.sessionId);
		};
		const place = { ...windowPlace(view.metadata), answers: view.metadata.sessionId };
		return ifAllowed(place, show, { need: 'send' });
	});

	/** Removes what is ticked from drafts, whoever ticks it. `showsAgain`: the form is shown again in any case. */
	function tick({ person }: PersonRequest, view: SubmittedSessionView, blockId: string, showsAgain: boolean): Task {
		return forAnybody(async () => {
			const form = await drafting.ticked(person, view, blockId);
			const keep = async (request: AllowedRequest) => {
				await drafting.keep(person, form);
				// Slack's state of an emptied box is that of an untouched one, so the view's metadata says that it is empty.
				if (showsAgain || form.metadata.secret.length === 0) await flow.show(request, { ...form, sameReading: true });
			};
			return ifAllowed(windowPlace(form.metadata), keep, SILENTLY);
		});
	}

	listen.action(ACTIONS.secret, (request, { view, blockId }) =>
		isOfSession(view) ? tick(request, view, blockId, false) : NOTHING_TO_DO,
	);

	listen.action(ACTIONS.keepSecret, (request, press) => {
		const view = sessionViewOf(press.view);
		const { metadata } = view;
		// Of several, the person ticks which.
		const secret = metadata.fields.length === 1 ? metadata.fields : metadata.secret;
		return tick(request, { ...view, metadata: { ...metadata, boxed: true, secret } }, press.blockId, true);
	});

	listen.action([ACTIONS.copyDraft, ACTIONS.discardDraft], (_, { value = '', view }, id) => {
		const act = async (request: PersonRequest) => {
			const own = await drafting.keptAside(request.person, value);
			// The inbox shows that it is gone.
			if (own?.text == null) return;
			if (id === ACTIONS.discardDraft) return drafting.discard(own.draft);
			const onTop = view !== null && view.callbackId !== CALLBACKS.home;
			await reply.openWindow(request, 'draft', () => draftModal(own.draft), { onTop });
		};
		return ifAllowedAnywhere(act, { takesTurn: true });
	});

	listen.action(ACTIONS.chooseItem, (_, press) => {
		const view = sessionViewOf(press.view);
		const { metadata } = view;
		return ifAllowed(windowPlace(metadata), async (request) => {
			const { text = null } = (await drafting.keptAside(request.person, metadata.formId)) ?? {};
			const prefill = text === null ? null : { values: { [press.number]: text }, givenFor: null };
			await flow.show(request, { view, metadata, prefill, sameReading: true });
		});
	});

	listen.valued([ACTIONS.answer, ACTIONS.open], decodeTarget, (request, target, { view, row }, id) => {
		const options = { ...target, toAnswer: id === ACTIONS.answer, ...(row !== null && { origin: row }) };
		return flow.open(request, options, view);
	});

	listen.valued(ACTIONS.answerAgain, decodeQuestionRef, (request, beside, { view, row }) => {
		const asked = { ...beside, messageIndex: null, toAnswer: true, again: true };
		return flow.open(request, { ...asked, ...(row !== null && { origin: row }) }, view);
	});

	// People who may not answer are not interrupted while they type: "Send answer" tells them.
	listen.action([ACTIONS.field, ACTIONS.otherText], (_, { view, blockId }) => {
		if (!isOfSession(view)) return NOTHING_TO_DO;
		const { origin, sessionId } = view.metadata;
		const place = { channelId: origin.channelId, answers: sessionId };
		return ifAllowed(place, ({ person }) => drafting.typed(person, view, blockId), SILENTLY);
	});

	listen.closed(CALLBACKS.loading, (_, view) => forAnybody(async () => flow.left(view.id)));
	listen.closed(CALLBACKS.session, (asked, view) => {
		flow.left(view.id);
		if (!isOfSession(view)) return NOTHING_TO_DO;
		// Also a person who is refused is not answering any more.
		const refused = () => drafting.left(asked.person, view);
		return ifAllowed(view.metadata.origin.channelId, ({ person }) => drafting.closed(person, view), { refused });
	});
	// Receipts set `notify_on_close`, so Slack reports their closing too.
	listen.closed(CALLBACKS.receipt, () => NOTHING_TO_DO);

	return { flow, drafting };
}
