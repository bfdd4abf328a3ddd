import type { Shape } from '../../../sandbox/gallery/shapes/samples.ts';

/** Shorter lists and texts are far below Slack's limits. */
const SMALLEST = { list: 6, text: 60 };

/** How large each part of a view or message is: 1 for a part that is there, the length of a long list or text. */
function sizesOf({ view, message }: Shape): Map<string, number> {
	const sizes = new Map<string, number>();
	const note = (part: string, size: number) => sizes.set(part, Math.max(size, sizes.get(part) ?? 0));
	function measure(value: unknown, path: string): void {
		if (Array.isArray(value)) {
			if (value.length >= SMALLEST.list) note(`${path}[]`, value.length);
			for (const item of value) measure(item, path);
		} else if (typeof value === 'string') {
			if (value.length >= SMALLEST.text) note(path, value.length);
		} else if (typeof value === 'object' && value !== null) {
			const { type, ...fields } = value as Readonly<Record<string, unknown>>;
			const isText = type === 'mrkdwn' || type === 'plain_text';
			const part = isText || typeof type !== 'string' ? path : type;
			note(part, 1);
			for (const [name, field] of Object.entries(fields)) measure(field, `${part}.${name}`);
		}
	}
	measure(view ?? message, 'message');
	return sizes;
}

/** The largest size of each part in any of the shapes, and the name of that shape. */
export function largestOf(shapes: readonly Shape[]): Map<string, { readonly size: number; readonly name: string }> {
	const largest = new Map<string, { size: number; name: string }>();
	for (const shape of shapes) {
		for (const [part, size] of sizesOf(shape)) {
			if (size > (largest.get(part)?.size ?? 0)) largest.set(part, { size, name: shape.name });
		}
	}
	return largest;
}
