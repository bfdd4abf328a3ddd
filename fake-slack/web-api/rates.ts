import { type Core, findChannel } from '../core.ts';
import type { Json } from '../json.ts';
import type { Method } from './method.ts';

const MINUTE_MS = 60_000;
/**
 * Posts a minute in the whole workspace: "several hundred" (docs.slack.dev, chat.postMessage, "Rate limiting"). The
 * number has no source.
 */
const POSTS_A_MINUTE = 300;

export interface Rates {
	/** Seconds to wait when the call is one too many, or null when it may proceed (and is counted). */
	take(name: string, method: Method, args: Json): number | null;
}

/**
 * Slack's limits in the fake's clock: a method's tier for the whole workspace; chat.postMessage once a second in a
 * channel, with a burst of five, and so many in all.
 */
export function createRates(core: Core): Rates {
	const calls = new Map<string, number[]>();

	/** Takes a call where all limits have room, else returns the longest wait in seconds. */
	function count(...limits: readonly (readonly [key: string, limit: number, windowMs: number])[]): number | null {
		const now = core.clock.now();
		const waits = limits.flatMap(([key, limit, windowMs]) => {
			const recent = (calls.get(key) ?? []).filter((at) => now - at < windowMs);
			calls.set(key, recent);
			return recent.length < limit ? [] : [Math.max(1, Math.ceil(((recent[0] ?? now) + windowMs - now) / 1000))];
		});
		if (waits.length > 0) return Math.max(...waits);
		for (const [key] of limits) calls.get(key)?.push(now);
		return null;
	}

	/** The channel of a message, however the call names it: its id, its name, the other person's id. */
	function placeOf(args: Json): string {
		const named = String(args.channel);
		const both = [named, core.state.app.botUser];
		const direct = core.state.channels.find(({ isIm, members }) => isIm && both.every((one) => members.includes(one)));
		return (findChannel(core, named) ?? direct)?.id ?? named;
	}

	return {
		take(name, method, args) {
			if (!core.settings.realRates) return null;
			if (name === 'chat.postMessage')
				return count([`${name} ${placeOf(args)}`, 5, 5000], [name, POSTS_A_MINUTE, MINUTE_MS]);
			return method.perMinute === undefined ? null : count([name, method.perMinute, MINUTE_MS]);
		},
	};
}
