import type { Gatekeeper } from '../../answers/who-may.ts';
import type { Clock } from '../../clock.ts';
import { retryAtOf } from '../../errors.ts';
import type { Session } from '../../questions/session.ts';
import { errorMessage, refusedMessage, stillWaitingMessage } from '../blocks/messages.ts';
import { filesMessage, screenshotMessage } from '../blocks/private-links.ts';
import type { WatchCommands } from '../commands/watch.ts';
import type { Drafting } from '../drafting.ts';
import { codeOf } from '../error-code.ts';
import { ACTIONS, decodeTarget } from '../ids.ts';
import type { Listen, Press } from '../listen.ts';
import { withNotes } from '../long-wait.ts';
import type { Reply } from '../reply.ts';
import type { PersonRequest } from '../request.ts';
import type { SessionFlow } from '../session/flow.ts';
import { typedIn, viewOf } from './session-actions.ts';

interface Dependencies {
	readonly commands: WatchCommands;
	readonly flow: SessionFlow;
	readonly drafting: Drafting;
	readonly gatekeeper: Gatekeeper;
	readonly service: {
		read(sessionId: string, options: { priority: 'person' }): Promise<{ session: Session; readAt: number }>;
	};
	readonly reply: Reply;
	readonly adminContact: string | null;
	readonly clock: Clock;
}

const asItIs = { questionsOnly: null, questionsInChannel: null };

/** Watch and unwatch as buttons, the pages of the list, and what a card shows to one person only. */
export function registerWatchActions(listen: Listen, deps: Dependencies): void {
	const { commands, flow, drafting, gatekeeper, service, reply, adminContact, clock } = deps;

	async function mayDo(request: PersonRequest, channelId: string | null): Promise<boolean> {
		const verdict = await gatekeeper.check(request.person, channelId);
		if (!verdict.allowed) await reply.toPerson(request, refusedMessage(verdict.refusal, adminContact));
		return verdict.allowed;
	}

	/** In a modal the channel is the one it was opened from, and the modal is shown again with the other button. */
	async function toggle(request: PersonRequest, press: Press, watch: boolean): Promise<void> {
		const target = decodeTarget(press.value);
		if (target === null) return;
		const form = press.view === null ? null : await drafting.read(press.view);
		const channelId = form?.metadata.origin.channelId ?? request.channelId;
		// Replies go where the watch is, also from inside a modal, which has no place of its own.
		const here = { ...request, channelId };
		if (!(await mayDo(here, channelId))) return;
		// Before what may take long: somebody may go on typing meanwhile.
		if (form !== null) await drafting.keep(request.person, press.view?.id ?? null, form);
		if (watch) await commands.watch(here, channelId, [target.sessionId], asItIs);
		else await commands.unwatch(here, channelId, [target.sessionId]);
		if (form === null) return;
		const { metadata } = form;
		await flow.show(request, viewOf(press), { metadata, typed: typedIn(form), sameReading: true, isShown: true });
	}

	/** Reads the session again, since its links die, and tells only the person who pressed. */
	async function showPrivately(
		request: PersonRequest,
		press: Press,
		build: (session: Session) => ReturnType<typeof filesMessage>,
	): Promise<void> {
		const target = decodeTarget(press.value);
		if (target === null || !(await mayDo(request, request.channelId))) return;
		try {
			const work = service.read(target.sessionId, { priority: 'person' });
			const { session } = await withNotes(clock, work, async () => {
				await reply.toPerson(request, stillWaitingMessage(target.sessionId));
				return false;
			});
			const [best, ...others] = build(session);
			if (best === undefined) return;
			if (await reply.tryInPrivate(request, best)) return;
			// An image that Slack cannot download fails the whole message.
			for (const other of others) if (await reply.toPerson(request, other)) return;
		} catch (error) {
			const context = { kept: 'nothing', adminContact, retryAt: retryAtOf(error, clock.now()) } as const;
			await reply.toPerson(request, errorMessage(codeOf(error), target.sessionId, context));
		}
	}

	listen.action(ACTIONS.watch, (request, press) => toggle(request, press, true));
	listen.action(ACTIONS.unwatch, (request, press) => toggle(request, press, false));
	listen.action(ACTIONS.showScreenshot, (request, press) => showPrivately(request, press, screenshotMessage));
	listen.action(ACTIONS.showFiles, (request, press) => showPrivately(request, press, filesMessage));
	for (const id of [ACTIONS.listOlder, ACTIONS.listNewer]) {
		listen.action(id, async (request, press) => {
			if (!(await mayDo(request, request.channelId))) return;
			await commands.list(request, Math.max(0, Math.floor(Number(press.value)) || 0), true);
		});
	}
}
