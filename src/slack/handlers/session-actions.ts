import type { DraftStore } from '../../answers/ports.ts';
import { ACTIONS, CALLBACKS, decodeTarget } from '../ids.ts';
import type { ViewMetadata } from '../metadata.ts';
import { channelOf, metadataOf, type PersonRequest, type Press, type ViewSnapshot } from '../request.ts';
import { type StandingForm, typedIn } from '../session/drafts.ts';
import { type AllowedRequest, forAnybody, ifAllowed, NOTHING_TO_DO, silently, type Task } from '../task.ts';
import type { HandlerContext } from './context.ts';

/** What a button changes in what the view shows. */
type Change = Partial<Pick<ViewMetadata, 'page' | 'partial' | 'plainText'>>;

/** Inside a session's modal: buttons, typing, closing. On messages: the buttons that open it. */
export function registerSessionActions(
	{ listen, flow, drafting }: HandlerContext,
	{ drafts }: { drafts: DraftStore },
): void {
	/** Shows the form again with what stands in its fields, from the last reading while that is at hand. */
	function showForm(request: AllowedRequest, view: ViewSnapshot, form: StandingForm, sameReading: boolean) {
		return flow.show(request, view, { metadata: form.metadata, typed: typedIn(form), sameReading });
	}

	/** Shows the view's session again; what stands in the fields is kept as a draft and in the fields. */
	function reshow(change: (press: Press) => Change, sameReading: boolean) {
		return (_: PersonRequest, press: Press): Task => {
			const { view } = press;
			if (view === null) return NOTHING_TO_DO;
			return ifAllowed(metadataOf(view).origin.channelId, async (request) => {
				const form = await drafting.read(view);
				if (form === null) return;
				await drafting.keep(request.person, view.id, form);
				await showForm(request, view, { ...form, metadata: { ...form.metadata, ...change(press) } }, sameReading);
			});
		};
	}

	const page = ({ value }: Press): Change => ({ page: Math.max(0, Number(value ?? 0) || 0) });
	const readAgain = (change: (press: Press) => Change) => reshow(change, false);
	const showOther = (change: (press: Press) => Change) => reshow(change, true);
	listen.action(
		ACTIONS.refresh,
		readAgain(() => ({ page: 0 })),
	);
	listen.action(
		ACTIONS.reload,
		readAgain(() => ({})),
	);
	listen.action(ACTIONS.older, showOther(page));
	listen.action(ACTIONS.newer, showOther(page));
	listen.action(
		ACTIONS.partial,
		showOther(() => ({ partial: true })),
	);
	listen.action(
		ACTIONS.complete,
		showOther(() => ({ partial: false })),
	);
	listen.action(
		ACTIONS.plainText,
		showOther(() => ({ plainText: true })),
	);
	listen.action(
		ACTIONS.guessed,
		showOther(() => ({ plainText: false })),
	);

	listen.action(ACTIONS.secret, (asked, { view, blockId }) => {
		if (view === null) return NOTHING_TO_DO;
		const mark = async (request: AllowedRequest) => {
			const form = await drafting.marked(request.person, view, blockId);
			// An empty box reads like one that nobody touched: the view has to remember that it was emptied.
			if (form !== null && form.metadata.secret.length === 0) await showForm(request, view, form, true);
		};
		return ifAllowed(channelOf(asked, view), mark, silently);
	});

	listen.action(ACTIONS.chooseItem, (_, { view, value }) => {
		const metadata = metadataOf(view);
		if (view === null) return NOTHING_TO_DO;
		return ifAllowed(metadata.origin.channelId, async (request) => {
			const draft = await drafts.get(metadata.formId);
			const text = Object.values(draft?.values ?? {})[0];
			const prefill = text === undefined ? null : { [Number(value)]: text };
			await flow.show(request, view, { metadata, prefill, sameReading: true });
		});
	});

	for (const id of [ACTIONS.answer, ACTIONS.open]) {
		listen.action(id, (request, { value, view }) => {
			const target = decodeTarget(value);
			return target === null ? NOTHING_TO_DO : flow.open(request, { ...target, toAnswer: id === ACTIONS.answer }, view);
		});
	}

	// Typing. Who may not answer is not interrupted: they are told at "Send answer".
	for (const id of [ACTIONS.field, ACTIONS.otherText]) {
		listen.action(id, (asked, { view, blockId }) => {
			if (view === null) return NOTHING_TO_DO;
			return ifAllowed(channelOf(asked, view), ({ person }) => drafting.typed(person, view, blockId), silently);
		});
	}

	listen.closed(CALLBACKS.loading, (_, view) => forAnybody(async () => flow.left(view.id)));
	listen.closed(CALLBACKS.session, (asked, view) => {
		flow.left(view.id);
		return ifAllowed(
			channelOf(asked, view),
			({ person }) => drafting.closed(person, view),
			// Whoever they are, they are not answering any more.
			() => drafting.left(asked.person, view),
		);
	});
	// Receipts ask for their closing so that Slack keeps telling when a view is gone; there is nothing to do.
	listen.closed(CALLBACKS.receipt, () => NOTHING_TO_DO);
}
