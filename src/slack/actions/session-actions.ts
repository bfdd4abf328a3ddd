import type { DraftStore } from '../../answers/ports.ts';
import type { Drafting, StandingForm } from '../drafting.ts';
import { OutdatedViewError } from '../error-code.ts';
import { ACTIONS, CALLBACKS, decodeTarget } from '../ids.ts';
import type { Listen, Press } from '../listen.ts';
import { decodeMetadata, newMetadata, type ViewMetadata } from '../metadata.ts';
import { originOf, type PersonRequest } from '../request.ts';
import type { TypedText } from '../session/draft-for.ts';
import type { SessionFlow } from '../session/flow.ts';
import { newFormId } from '../session/presenter.ts';
import type { OpenView } from '../session/view-handle.ts';
import { type AllowedRequest, channelOf, ifAllowed, NOTHING_TO_DO, silently, type Task } from '../task.ts';

interface Dependencies {
	readonly flow: SessionFlow;
	readonly drafting: Drafting;
	readonly drafts: DraftStore;
}

/** How a press changes what the view shows. */
type Change = (metadata: ViewMetadata, press: Press) => Partial<ViewMetadata>;

const page: Change = (_, press) => ({ page: Math.max(0, Number(press.value ?? 0) || 0) });

/** Buttons within a session's modal, and those on messages that open it. */
export function registerSessionActions(listen: Listen, { flow, drafting, drafts }: Dependencies): void {
	/** Shows the view's session again; what stands in the fields is kept as a draft and in the fields. */
	function reshow(change: Change, sameReading: boolean) {
		return (_: PersonRequest, press: Press): Task => {
			const { view } = press;
			if (view === null) return NOTHING_TO_DO;
			const before = decodeMetadata(view.privateMetadata);
			if (before === null) throw new OutdatedViewError();
			return ifAllowed(before.origin.channelId, async (request) => {
				const form = await drafting.read(view);
				if (form === null) throw new OutdatedViewError();
				await drafting.keep(request.person, view.id, form);
				await flow.show(request, viewOf(press), {
					metadata: { ...form.metadata, ...change(form.metadata, press) },
					typed: typedIn(form),
					sameReading,
					isShown: view.callbackId === CALLBACKS.session,
				});
			});
		};
	}

	listen.action(
		ACTIONS.refresh,
		reshow(() => ({ page: 0 }), false),
	);
	listen.action(ACTIONS.older, reshow(page, true));
	listen.action(ACTIONS.newer, reshow(page, true));
	listen.action(
		ACTIONS.partial,
		reshow(() => ({ partial: true }), true),
	);
	listen.action(
		ACTIONS.complete,
		reshow(() => ({ partial: false }), true),
	);
	listen.action(
		ACTIONS.plainText,
		reshow(() => ({ plainText: true }), true),
	);
	listen.action(
		ACTIONS.guessed,
		reshow(() => ({ plainText: false }), true),
	);
	listen.action(
		ACTIONS.reload,
		reshow(() => ({}), false),
	);

	listen.action(ACTIONS.secret, (asked, press) => {
		const { view } = press;
		if (view === null) return NOTHING_TO_DO;
		const mark = async (request: AllowedRequest) => {
			const form = await drafting.marked(request.person, view, press.blockId);
			// An empty box reads like one that nobody touched: the view has to remember that it was emptied.
			if (form === null || form.metadata.secret.length > 0) return;
			const { metadata } = form;
			await flow.show(request, viewOf(press), { metadata, typed: typedIn(form), sameReading: true, isShown: true });
		};
		return ifAllowed(channelOf(asked, view), mark, silently);
	});

	listen.action(ACTIONS.chooseItem, (_, press) => {
		const metadata = decodeMetadata(press.view?.privateMetadata);
		if (metadata === null) throw new OutdatedViewError();
		return ifAllowed(metadata.origin.channelId, async (request) => {
			const draft = await drafts.get(metadata.formId);
			const text = Object.values(draft?.values ?? {})[0];
			const prefill = text === undefined ? null : { [Number(press.value)]: text };
			await flow.show(request, viewOf(press), { metadata, prefill, sameReading: true });
		});
	});

	for (const id of [ACTIONS.answer, ACTIONS.open]) {
		listen.action(id, (request, press) => {
			const target = decodeTarget(press.value);
			if (target === null) return NOTHING_TO_DO;
			const toAnswer = id === ACTIONS.answer;
			if (press.view === null) return flow.open(request, { ...target, toAnswer, origin: originOf(request) });
			const origin = decodeMetadata(press.view.privateMetadata)?.origin ?? originOf(request);
			const metadata = newMetadata({ sessionId: target.sessionId, formId: newFormId(), origin });
			const wanted = target.messageIndex ?? (toAnswer ? 'newest' : null);
			return ifAllowed(origin.channelId, (allowed) => flow.show(allowed, viewOf(press), { metadata, wanted }));
		});
	}
}

export function viewOf(press: Press): OpenView {
	const { id = '', hash = '' } = press.view ?? {};
	return { id, hash: hash === '' ? null : hash };
}

/** Null when there is no form, so that a draft may come in. */
export function typedIn({ metadata, reading, at }: StandingForm): TypedText | null {
	return metadata.fields.length === 0 ? null : { values: reading.values, at };
}
