import { stillWaitingMessage } from '../blocks/messages.ts';
import { filesMessage, screenshotMessage } from '../blocks/private-links.ts';
import { codeOf } from '../clients.ts';
import { ACTIONS, decodeTarget } from '../ids.ts';
import type { Links } from '../links.ts';
import { channelOf, logAccess, type PersonRequest, type Press, type ViewSnapshot } from '../request.ts';
import { type StandingForm, typedIn } from '../session/drafts.ts';
import { withNotes } from '../session/waiting.ts';
import { type AllowedRequest, ifAllowed, ifAllowedAnywhere, NOTHING_TO_DO, silently, type Task } from '../task.ts';
import type { HandlerContext } from './context.ts';
import type { WatchCommands } from './watch-command.ts';

/** Watch and unwatch as buttons, the pages of the list, and what a card shows to one person only. */
export function registerWatchActions(
	{ listen, flow, drafting, personReads, reply, clock }: HandlerContext,
	{ commands, links }: { commands: WatchCommands; links: Links },
): void {
	/** What stands in the view's fields, kept as a draft; null when the view cannot be read. */
	async function keptForm({ person }: AllowedRequest, view: ViewSnapshot): Promise<StandingForm | null> {
		const form = await drafting.read(view);
		if (form !== null) await drafting.keep(person, view.id, form);
		return form;
	}

	/** Shows a modal again, with the other button. */
	async function showAgain(request: AllowedRequest, view: ViewSnapshot, form: StandingForm | null): Promise<void> {
		if (form === null) return;
		await flow.show(request, view, { metadata: form.metadata, typed: typedIn(form), sameReading: true });
	}

	listen.action(ACTIONS.watch, (asked, { value, view }) => {
		const target = decodeTarget(value);
		if (target === null) return NOTHING_TO_DO;
		const channelId = channelOf(asked, view);
		return ifAllowed(channelId, async (request) => {
			// Before what may take long: somebody may go on typing meanwhile.
			const form = view === null ? null : await keptForm(request, view);
			// Replies go where the watch is: a modal has no place of its own.
			await commands.watch({ ...request, channelId }, [target.sessionId]);
			if (view !== null) await showAgain(request, view, form);
		});
	});

	listen.action(ACTIONS.unwatch, (asked, { value, view }) => {
		const target = decodeTarget(value);
		if (target === null) return NOTHING_TO_DO;
		const channelId = channelOf(asked, view);
		return ifAllowedAnywhere(async (anybody) => {
			await commands.unwatch({ ...anybody, channelId }, [target.sessionId]);
			if (view === null) return NOTHING_TO_DO;
			const showOther = async (request: AllowedRequest) => showAgain(request, view, await keptForm(request, view));
			// What was asked for is done: no word about the channel, in which the session is not shown.
			return ifAllowed(channelId, showOther, silently);
		});
	});

	/** Reads the session again, since its links die, and tells only the person who pressed. Resolves to the word for the log. */
	async function showPrivately(
		request: AllowedRequest,
		sessionId: string,
		build: typeof filesMessage,
	): Promise<string> {
		try {
			const work = (await personReads.permit(request)).read(sessionId);
			const { session } = await withNotes(clock, work, async () => {
				await reply.toPerson(request, stillWaitingMessage(sessionId));
				return false;
			});
			const [best, ...others] = build(session, links);
			if (best === undefined) return 'nothing';
			if (await reply.throughResponseUrl(request, best)) return 'shown';
			// An image that Slack cannot download fails the whole message.
			for (const other of others) if (await reply.toPerson(request, other)) return 'shown';
			return 'not_shown';
		} catch (error) {
			await reply.failed(request, error, { sessionId });
			return codeOf(error);
		}
	}

	function showAndLog(access: 'files' | 'screenshot', build: typeof filesMessage) {
		return ({ channelId }: PersonRequest, { value }: Press): Task => {
			const target = decodeTarget(value);
			if (target === null) return NOTHING_TO_DO;
			return ifAllowed(channelId, async (request) => {
				logAccess(request, access, target.sessionId, await showPrivately(request, target.sessionId, build));
			});
		};
	}

	listen.action(ACTIONS.showScreenshot, showAndLog('screenshot', screenshotMessage));
	listen.action(ACTIONS.showFiles, showAndLog('files', filesMessage));

	for (const id of [ACTIONS.listOlder, ACTIONS.listNewer]) {
		listen.action(id, ({ channelId }, press) => {
			const offset = Math.max(0, Math.floor(Number(press.value)) || 0);
			return ifAllowed(channelId, (request) => commands.list(request, offset, true));
		});
	}
}
