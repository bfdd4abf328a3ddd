import type { Core } from '../core.ts';
import type { Deliverer } from '../delivery.ts';
import { type Json, records, text } from '../json.ts';
import type { Viewer } from '../payloads.ts';
import {
	closeView,
	fillInView,
	placedIn,
	pressInView,
	type SubmitOutcome,
	submitView,
} from '../people/modal-actions.ts';
import type { View } from '../state.ts';
import { choice, type Field, fieldsOf, findField, findPress, pressesOf, typing } from './controls.ts';
import { readBlocks, readText } from './visible-text.ts';

/** What a person saw after Submit: `errors` by label (fieldErrors), `trouble` in Slack's words. */
interface SubmitResult {
	outcome: SubmitOutcome;
	errors: Record<string, string>;
	trouble: string | null;
}

/** A modal as a person sees it. It reads the current state. Actions throw when it is no longer on top. */
export interface Modal {
	readonly id: string;
	title(): string;
	/** Title, blocks, errors and buttons, as they read on the screen. */
	text(): string;
	fields(): Field[];
	/** The current value of a field, by label or position. */
	value(which: string | number): Field['value'];
	/** The texts of everything in the modal's body that can be pressed. */
	buttons(): string[];
	/** The text of the submit button, or null when there is none. */
	submitText(): string | null;
	/** Types into a text field and replaces its text. */
	fill(which: string | number, value: string): Promise<void>;
	/**
	 * Chooses in a select, radio group, checkboxes or picker: by visible texts; people by name or id, dates as YYYY-MM-DD,
	 * times as HH:mm.
	 */
	choose(which: string | number, option: string | readonly string[]): Promise<void>;
	/** Empties a field. */
	clear(which: string | number): Promise<void>;
	/** Presses a button or an overflow entry, and confirms where it asks. False when the app did not acknowledge. */
	press(label: string, index?: number): Promise<boolean>;
	submit(): Promise<SubmitResult>;
	/** Cancel or Esc closes this view; `all` the whole stack. */
	close(all?: boolean): Promise<void>;
	isOpen(): boolean;
	/** The blocks as the app sent them, with all ids. */
	blocks(): Json[];
	view(): View;
}

export function createModal(core: Core, deliverer: Deliverer, viewer: Viewer, first: View): Modal {
	const isOpen = () => core.state.windows.some(({ stack }) => stack.includes(first.id));
	const view = () => core.state.views[first.id] ?? first;
	const blocks = () => records(view().payload, 'blocks');
	const fields = () => fieldsOf(core, blocks(), view().input, view().fieldErrors);

	function onTop(): View {
		// The Home tab lies below every modal and stays usable.
		if (core.state.homes[viewer.user] === first.id) return view();
		const window = core.state.windows.find((one) => one.user === viewer.user && one.id === viewer.window);
		if (window?.stack.at(-1) !== first.id) throw new Error(`The modal "${title()}" is no longer on top.`);
		return view();
	}
	function title(): string {
		return readText(core, view().payload.title);
	}
	async function set(which: string | number, held: (field: Field) => unknown): Promise<void> {
		const top = onTop();
		const field = findField(fields(), which);
		const { blockId, actionId } = field;
		await fillInView(core, deliverer, viewer, { view: top, blockId, actionId, held: held(field) });
	}
	const submitText = () => (view().payload.submit === undefined ? null : readText(core, view().payload.submit));

	return {
		id: first.id,
		title,
		text() {
			const { trouble, fieldErrors } = view();
			return [
				title(),
				...(trouble === null ? [] : [trouble]),
				...blocks().map((block) => {
					const id = text(block, 'block_id') ?? '';
					const filled = fields().filter((field) => field.blockId === id && [field.value ?? []].flat().length > 0);
					return [
						readBlocks(core, [block]),
						...filled.map((field) => `> ${[field.value].flat().join(', ')}`),
						...(fieldErrors[id] === undefined ? [] : [`! ${fieldErrors[id]}`]),
					].join('\n');
				}),
				[readText(core, view().payload.close) || 'Close', submitText()]
					.filter((one) => one !== null)
					.map((one) => `[${one}]`)
					.join(' '),
			].join('\n');
		},
		fields,
		value: (which) => findField(fields(), which).value,
		buttons: () => pressesOf(core, blocks()).map((press) => press.label),
		submitText,
		fill: (which, value) => set(which, (field) => typing(field, value)),
		choose: (which, option) =>
			set(which, (field) => choice(core, placedIn(view(), field.blockId, field.actionId), option)),
		clear: (which) => set(which, (field) => (Array.isArray(field.value) ? [] : null)),
		async press(label, index) {
			const top = onTop();
			const { placed, chosen } = findPress(pressesOf(core, blocks()), label, index);
			const { blockId, actionId } = placed;
			return pressInView(core, deliverer, viewer, { view: top, blockId, actionId, chosen });
		},
		async submit() {
			onTop();
			const outcome = await submitView(core, deliverer, viewer);
			const now = view();
			const errors: Record<string, string> = {};
			for (const block of records(now.payload, 'blocks')) {
				const error = now.fieldErrors[text(block, 'block_id') ?? ''];
				if (error !== undefined) errors[readText(core, block.label)] = error;
			}
			return { outcome, errors, trouble: now.trouble };
		},
		async close(all) {
			onTop();
			await closeView(core, deliverer, viewer, all);
		},
		isOpen,
		blocks,
		view,
	};
}
