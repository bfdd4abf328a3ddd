import { HOUR_MS } from '../../kernel/clock.ts';
import { snoozedMessage } from '../../screens/inbox.ts';
import type { InboxStore } from '../../screens/inbox-store.ts';
import type { HandlerContext } from '../../slack/context.ts';
import { ACTIONS, decodeSnooze, questionHash } from '../../slack/ids.ts';
import { type AllowedRequest, ifAllowed, ifAllowedAnywhere, type PersonRequest } from '../../slack/request.ts';

/** Registers the entries that snooze a question, in inboxes and open posts, *Show now*, and *Dismiss*. */
export function registerSnooze(core: HandlerContext<{ inboxes: InboxStore }>): void {
	const { listen, reply, serviceUrl, clock } = core;
	const { inboxes: store } = core.store;

	listen.valued(ACTIONS.snooze, decodeSnooze, ({ channelId }, choice, { row }) => {
		const snooze = async (request: AllowedRequest) => {
			const { person } = request;
			const open = await store.openQuestions(serviceUrl, person.teamId);
			const asked = open.find(({ question: { sessionId }, fingerprint }) => {
				return questionHash({ sessionId, fingerprint }) === choice.hash;
			});
			// It was settled meanwhile: the inbox shows that by itself.
			if (asked === undefined) return;
			const { question, fingerprint } = asked;
			const until = clock.now() + HOUR_MS;
			const session = { service: serviceUrl, sessionId: question.sessionId };
			await store.snooze({ person, session, fingerprint, until });
			request.log.info({ session: question.sessionId }, 'snoozed');
			// An inbox shows it by itself.
			if (row !== null) return;
			const [known] = (await store.snapshots(serviceUrl, [question.sessionId])).values();
			await reply.toPerson(request, snoozedMessage({ name: '', ...question, ...known }, until));
		};
		return ifAllowed(row === null ? channelId : row.channelId, snooze, { changes: true, takesTurn: true });
	});

	listen.action(ACTIONS.dismiss, (_, { value = '' }) => {
		const dismiss = async ({ person, log }: PersonRequest) => {
			const outcome = (await store.dismiss(value, person)) ? 'dismissed' : 'not over';
			log.info({ answer: value.slice(0, 60), outcome }, 'dismiss');
		};
		return ifAllowedAnywhere(dismiss, { changes: true, takesTurn: true });
	});

	listen.action(ACTIONS.showSnoozed, () => {
		const show = ({ person }: PersonRequest) => store.endSnoozes(serviceUrl, person);
		return ifAllowedAnywhere(show, { changes: true, takesTurn: true });
	});
}
