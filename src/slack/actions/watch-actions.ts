import type { Clock } from '../../clock.ts';
import { retryAtOf } from '../../errors.ts';
import { logAccess } from '../access-log.ts';
import { errorMessage, stillWaitingMessage } from '../blocks/messages.ts';
import { filesMessage, screenshotMessage } from '../blocks/private-links.ts';
import type { WatchCommands } from '../commands/watch.ts';
import type { Drafting, StandingForm } from '../drafting.ts';
import { codeOf } from '../error-code.ts';
import { ACTIONS, decodeTarget } from '../ids.ts';
import type { Links } from '../links.ts';
import type { Listen, Press } from '../listen.ts';
import { withNotes } from '../long-wait.ts';
import { type PersonReads, TooFastError } from '../person-reads.ts';
import type { Reply } from '../reply.ts';
import type { PersonRequest } from '../request.ts';
import type { SessionFlow } from '../session/flow.ts';
import {
	type AllowedRequest,
	channelOf,
	ifAllowed,
	ifAllowedAnywhere,
	NOTHING_TO_DO,
	silently,
	type Task,
} from '../task.ts';
import { typedIn, viewOf } from './session-actions.ts';

interface Dependencies {
	readonly commands: WatchCommands;
	readonly flow: SessionFlow;
	readonly drafting: Drafting;
	readonly personReads: PersonReads;
	readonly links: Links;
	readonly reply: Reply;
	readonly adminContact: string | null;
	readonly clock: Clock;
}

const asItIs = { questionsOnly: null, questionsInChannel: null };

/** Watch and unwatch as buttons, the pages of the list, and what a card shows to one person only. */
export function registerWatchActions(listen: Listen, deps: Dependencies): void {
	const { commands, flow, drafting, personReads, links, reply, adminContact, clock } = deps;

	/** A modal is shown again with the other button. */
	async function showAgain(request: AllowedRequest, press: Press, form: StandingForm): Promise<void> {
		const { metadata } = form;
		await flow.show(request, viewOf(press), { metadata, typed: typedIn(form), sameReading: true, isShown: true });
	}

	/** What stands in the view's fields, kept as a draft; null on a message. */
	async function keptForm(request: AllowedRequest, { view }: Press): Promise<StandingForm | null> {
		const form = view === null ? null : await drafting.read(view);
		if (form !== null) await drafting.keep(request.person, view?.id ?? null, form);
		return form;
	}

	listen.action(ACTIONS.watch, (asked, press) => {
		const target = decodeTarget(press.value);
		if (target === null) return NOTHING_TO_DO;
		const channelId = channelOf(asked, press.view);
		return ifAllowed(channelId, async (request) => {
			// Before what may take long: somebody may go on typing meanwhile.
			const form = await keptForm(request, press);
			// Replies go where the watch is: a modal has no place of its own.
			await commands.watch({ ...request, channelId }, channelId, [target.sessionId], asItIs);
			if (form !== null) await showAgain(request, press, form);
		});
	});

	listen.action(ACTIONS.unwatch, (asked, press) => {
		const target = decodeTarget(press.value);
		if (target === null) return NOTHING_TO_DO;
		const channelId = channelOf(asked, press.view);
		return ifAllowedAnywhere(async (anybody) => {
			await commands.unwatch({ ...anybody, channelId }, channelId, [target.sessionId]);
			if (press.view === null) return NOTHING_TO_DO;
			const showOther = async (request: AllowedRequest) => {
				const form = await keptForm(request, press);
				if (form !== null) await showAgain(request, press, form);
			};
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
			if (await reply.tryInPrivate(request, best)) return 'shown';
			// An image that Slack cannot download fails the whole message.
			for (const other of others) if (await reply.toPerson(request, other)) return 'shown';
			return 'not_shown';
		} catch (error) {
			const code = codeOf(error);
			const context = { kept: 'nothing', adminContact, retryAt: retryAtOf(error, clock.now()) } as const;
			const words = errorMessage(code, sessionId, context);
			if (error instanceof TooFastError) await reply.slowDown(request, error, words);
			else await reply.toPerson(request, words);
			return code;
		}
	}

	function showAndLog(what: 'files' | 'screenshot') {
		const build = what === 'files' ? filesMessage : screenshotMessage;
		return ({ channelId }: PersonRequest, press: Press): Task => {
			const target = decodeTarget(press.value);
			if (target === null) return NOTHING_TO_DO;
			return ifAllowed(channelId, async (request) => {
				logAccess(request, what, target.sessionId, await showPrivately(request, target.sessionId, build));
			});
		};
	}

	listen.action(ACTIONS.showScreenshot, showAndLog('screenshot'));
	listen.action(ACTIONS.showFiles, showAndLog('files'));
	for (const id of [ACTIONS.listOlder, ACTIONS.listNewer]) {
		listen.action(id, ({ channelId }, press) => {
			const offset = Math.max(0, Math.floor(Number(press.value)) || 0);
			return ifAllowed(channelId, (request) => commands.list(request, offset, true));
		});
	}
}
