import { isRecord, type Json, type TrafficEntry } from '../../fake-slack/index.ts';
import { parsed } from './as-written.ts';

/** Messages of a channel that count as being on one screen. */
const SCREEN = 50;

interface Shown {
	readonly label: string;
	/** For whoever hears the screen; empty: the label alone. */
	readonly spoken: string;
}

/**
 * Every button that was sent to Slack and stands on its screen more than once (in its message or view, and in the newest
 * messages of its channel) without saying what about. Empty when there is none. Messages of a response_url are screens of their
 * own: it does not name the channel.
 */
export function unlabelledButtons(entries: readonly TrafficEntry[]): string[] {
	const channels = new Map<string, Map<string, readonly Shown[]>>();
	const messagesOf = (channel: unknown) => {
		const known = channels.get(String(channel)) ?? new Map<string, readonly Shown[]>();
		channels.set(String(channel), known);
		return known;
	};
	const found = entries.flatMap(({ direction, name, request, answer }) => {
		if (direction === 'delivery') return problemsIn(name, [...buttonsIn(answer)], []);
		const shown = [...buttonsIn(request)];
		if (!name.startsWith('chat.') || !isRecord(answer) || answer.ok !== true) return problemsIn(name, shown, []);
		const messages = messagesOf(answer.channel ?? request.channel);
		const ts = String(answer.ts ?? answer.message_ts ?? request.ts);
		const others = [...messages].filter(([other]) => other !== ts).slice(-SCREEN);
		if (name === 'chat.delete') messages.delete(ts);
		else if (shown.length > 0 || messages.has(ts)) messages.set(ts, shown);
		return problemsIn(
			name,
			shown,
			others.flatMap(([, other]) => other),
		);
	});
	return [...new Set(found)];
}

function problemsIn(where: string, shown: readonly Shown[], others: readonly Shown[]): string[] {
	return shown.flatMap(({ label, spoken }, at) => {
		const isRepeated = [...shown.toSpliced(at, 1), ...others].some((other) => other.label === label);
		return !isRepeated || spoken.startsWith(`${label}: `) ? [] : [`${where}: “${label}” does not say what about`];
	});
}

function* buttonsIn(value: unknown): Generator<Shown> {
	if (typeof value === 'string') yield* buttonsIn(parsed(value));
	if (typeof value !== 'object' || value === null) return;
	const { type, text, accessibility_label: spoken = '' }: Json = { ...value };
	if (type === 'button' && isRecord(text)) {
		yield { label: String(text.text), spoken: String(spoken) };
	} else {
		for (const child of Object.values(value)) yield* buttonsIn(child);
	}
}
