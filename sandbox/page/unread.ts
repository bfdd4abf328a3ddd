import type { WireChannel, WireMessage } from '../wire.ts';

/** Messages that this person has not seen: those in the channel itself, without their own. */
export function unreadOf(messages: readonly WireMessage[], channel: WireChannel, me: string): readonly WireMessage[] {
	return messages.filter(
		(one) =>
			one.channel === channel.id &&
			one.ts > channel.readTs &&
			one.user !== me &&
			(one.threadTs === null || one.broadcast),
	);
}

/** Of these, those that notified this person, and everything in a direct message. */
export function mentionsOf(unread: readonly WireMessage[], channel: WireChannel): number {
	return unread.filter((one) => channel.isIm || one.rings).length;
}
