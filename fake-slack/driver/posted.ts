import { type Core, personOf } from '../core.ts';
import type { Deliverer } from '../delivery.ts';
import type { Json } from '../json.ts';
import { linksIn } from '../live-text.ts';
import { deleteMessage, editMessage, isTombstone, messageAt } from '../messages.ts';
import type { Viewer } from '../payloads.ts';
import { write } from '../people/composer.ts';
import { actInMessage, fillInMessage, messageInput, placedInMessage } from '../people/message-actions.ts';
import { tellOfChange } from '../people/talk.ts';
import type { Message } from '../state.ts';
import { sees } from '../visibility.ts';
import { choice, type Field, fieldsOf, findField, findPress, pressesOf, typing } from './controls.ts';
import { readMessage, readMrkdwn } from './visible-text.ts';

/** A message as a person sees it. It reads the current state. */
export interface Posted {
	readonly ts: string;
	readonly channel: string;
	/** The author's name. */
	author(): string;
	/** The text the person reads: the blocks, or `text` without blocks. */
	text(): string;
	/** The text of a notification: the top-level `text`. */
	notification(): string;
	isEphemeral(): boolean;
	/** Whether it is in a thread and also shown in the channel. */
	threadTs(): string | null;
	isBroadcast(): boolean;
	/** The names of people it notified, by an edit too. */
	rung(): string[];
	/** The addresses in its text that a person can follow. */
	links(): string[];
	buttons(): string[];
	/** The address that a button leads to, or null. */
	link(label: string): string | null;
	fields(): Field[];
	/** Presses a button or an overflow entry, and confirms where it asks. False when the app did not acknowledge. */
	press(label: string, index?: number): Promise<boolean>;
	/** `fill` and `choose` as in a modal. */
	fill(which: string | number, value: string): Promise<void>;
	choose(which: string | number, option: string | readonly string[]): Promise<void>;
	/** The replies under it that this person sees, oldest first. */
	thread(): Posted[];
	/** Its text before each edit, oldest first. */
	editHistory(): string[];
	exists(): boolean;
	/** Its author gives it another text. Resolves when the event was delivered once. */
	edit(typed: string): Promise<void>;
	/** Deletes it, as somebody who may. */
	remove(): void;
	blocks(): Json[];
}

export function createPosted(core: Core, deliverer: Deliverer, viewer: Viewer, first: Message): Posted {
	const find = () => messageAt(core, first);
	const message = () => find() ?? first;
	const read = (text: string, blocks: readonly Json[]) =>
		blocks.length > 0 ? readMessage(core, blocks) : readMrkdwn(core, text);
	const fields = () => fieldsOf(core, message().blocks, messageInput(message(), viewer.user));

	function there(): Message {
		const found = find();
		if (!found) throw new Error('The message no longer exists.');
		return found;
	}
	async function set(which: string | number, held: (field: Field) => unknown): Promise<void> {
		const found = there();
		const field = findField(fields(), which);
		const placed = placedInMessage(found, field.blockId, field.actionId);
		await fillInMessage(core, deliverer, viewer, { message: found, placed, held: held(field) });
	}

	return {
		ts: first.ts,
		channel: first.channel,
		author: () =>
			message().subtype === 'slackbot' || isTombstone(message()) ? 'slackbot' : personOf(core, message().user).name,
		text: () => read(message().text, message().blocks),
		notification: () => readMrkdwn(core, message().text),
		isEphemeral: () => message().ephemeralFor !== undefined,
		threadTs: () => message().threadTs ?? null,
		isBroadcast: () => message().broadcast,
		rung: () => (message().rung ?? []).map((user) => personOf(core, user).name),
		links: () => linksIn(message().text, message().blocks),
		buttons: () => pressesOf(core, message().blocks).map((press) => press.label),
		link: (label) => findPress(pressesOf(core, message().blocks), label).url,
		fields,
		async press(label, index) {
			const found = there();
			const { placed, chosen } = findPress(pressesOf(core, found.blocks), label, index);
			return actInMessage(core, deliverer, viewer, { message: found, placed, chosen });
		},
		fill: (which, value) => set(which, (field) => typing(field, value)),
		choose: (which, option) =>
			set(which, (field) => choice(core, placedInMessage(there(), field.blockId, field.actionId), option)),
		thread: () =>
			core.state.messages
				.filter((one) => one.channel === first.channel && one.threadTs === first.ts && sees(core, viewer, one))
				.map((one) => createPosted(core, deliverer, viewer, one)),
		editHistory: () => message().history.map((version) => read(version.text, version.blocks)),
		exists: () => find() !== undefined,
		async edit(typed) {
			const found = there();
			if (found.user !== viewer.user) throw new Error('Only its author can edit a message.');
			const told = tellOfChange(core, deliverer, found);
			editMessage(core, found, { ...write(core, typed) });
			await told(found);
		},
		remove() {
			const found = there();
			const told = tellOfChange(core, deliverer, found);
			deleteMessage(core, found);
			void told(null);
		},
		blocks: () => message().blocks,
	};
}
