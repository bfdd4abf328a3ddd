import { at, isObject, openPayload } from '../payload.ts';
import type { Surface } from '../problem.ts';
import { countLimits, numberLimits } from '../rules/counts.ts';
import { lengthLimits, neverEmpty } from '../rules/lengths.ts';
import { blockSurfaces, elementSurfaces } from '../rules/surfaces.ts';
import { accepted } from './accepted.ts';
import type { Sample } from './build.ts';

/**
 * For every limit of the tables a payload that just keeps it and one that just breaks it, made from an accepted sample
 * by changing the one value. A limit that no accepted sample has a place for is an error: its path would be a typo.
 */
export type Boundary = { id: string; kept: Sample[]; broken: Sample[] };

function surfaceOf(sample: Sample): Surface {
	if (sample.subject.kind === 'blocks') return sample.subject.surface;
	if (sample.subject.kind === 'message') return 'message';
	return isObject(sample.subject.value) && sample.subject.value.type === 'home' ? 'home' : 'modal';
}

function open(sample: Sample) {
	const { subject } = sample;
	if (subject.kind === 'errors') return undefined;
	return openPayload({ kind: subject.kind, surface: surfaceOf(sample), method: '', value: subject.value });
}

const opened = accepted.map((sample) => ({ sample, payload: open(sample) }));

/** The first place in the accepted samples where a part of this type has something at this path. */
function placeOf(type: string, path: string): { sample: Sample; pointer: string; value: unknown } {
	for (const { sample, payload } of opened) {
		const parts = payload?.parts.filter((part) => type === '*' || part.type === type) ?? [];
		const [found] = parts.flatMap((part) => at(part, path));
		if (found !== undefined) return { sample, ...found };
	}
	throw new Error(`Expected an accepted sample with ${path} in ${type}.`);
}

function changed({ sample, pointer }: { sample: Sample; pointer: string }, name: string, value: unknown): Sample {
	const subject = structuredClone(sample.subject);
	const steps = pointer.slice(1).split('/');
	// A view's pointers begin with what carries it; bare blocks' too.
	if (subject.kind !== 'message') steps.shift();
	const last = steps.pop();
	let target = subject.value as Record<string, unknown>;
	for (const step of steps) target = target[step] as Record<string, unknown>;
	target[String(last)] = value;
	return { name: `${sample.name} with ${name} at ${pointer}`, subject };
}

/** `count` items like the first ones, distinct where they must be. */
function repeated(items: readonly unknown[], count: number): unknown[] {
	return Array.from({ length: count }, (_, index) => {
		if (index < items.length) return items[index];
		const item = structuredClone(items[0]);
		if (!isObject(item)) return item;
		delete item.action_id;
		delete item.block_id;
		if (typeof item.value === 'string') item.value = `value ${index}`;
		if (Array.isArray(item.options)) {
			for (const option of item.options) if (isObject(option)) option.value = `value ${index}`;
		}
		return item;
	});
}

const lengths: Boundary[] = lengthLimits.map(({ type, path, max }) => {
	const place = placeOf(type, path);
	const text = (length: number) => String(place.value).padEnd(length, 'x');
	return {
		id: `length:${type}.${path}`,
		kept: [changed(place, `${max} characters`, text(max))],
		broken: [changed(place, `${max + 1} characters`, text(max + 1))],
	};
});

const empties: Boundary[] = neverEmpty.map(({ type, path }) => {
	const place = placeOf(type, path);
	return {
		id: `empty:${type}.${path}`,
		kept: [changed(place, 'one character', place.value)],
		broken: [changed(place, 'nothing', ''), changed(place, 'a blank', ' ')],
	};
});

const counts: Boundary[] = countLimits.flatMap(({ type, path, min = 0, max }) => {
	const place = placeOf(type, path);
	const items = place.value as unknown[];
	const boundaries: Boundary[] = [];
	if (min > 0) {
		const kept = [changed(place, `${min} items`, items.slice(0, Math.max(min, items.length)))];
		boundaries.push({ id: `count:${type}.${path}:min`, kept, broken: [changed(place, 'no items', [])] });
	}
	if (max !== undefined) {
		boundaries.push({
			id: `count:${type}.${path}:max`,
			kept: [changed(place, `${max} items`, repeated(items, max))],
			broken: [changed(place, `${max + 1} items`, repeated(items, max + 1))],
		});
	}
	return boundaries;
});

const numbers: Boundary[] = numberLimits.map(({ type, path, min, max }) => {
	const place = placeOf(type, path);
	return {
		id: `number:${type}.${path}`,
		kept: [min, max].map((value) => changed(place, String(value), value)),
		broken: [min - 1, max + 1, min + 0.5].map((value) => changed(place, String(value), value)),
	};
});

const surfaces: Boundary[] = Object.entries({ ...blockSurfaces, ...elementSurfaces }).map(([type, allowed]) => {
	const example = opened.find(({ payload }) => payload?.parts.some((part) => part.type === type));
	const part = example?.payload?.parts.find((candidate) => candidate.type === type);
	const block = type === 'file' ? { type, source: 'remote', external_id: 'a' } : part?.block?.value;
	if (block === undefined) throw new Error(`Expected an accepted sample with ${type}.`);
	const on = (surface: Surface): Sample => ({
		name: `${type} in a ${surface}`,
		subject: { kind: 'blocks', value: [block], surface },
	});
	const everywhere: Surface[] = ['message', 'modal', 'home'];
	return {
		id: `surface:${type}`,
		kept: everywhere.filter((surface) => allowed.includes(surface)).map(on),
		broken: everywhere.filter((surface) => !allowed.includes(surface)).map(on),
	};
});

export const boundaries: Boundary[] = [...lengths, ...empties, ...counts, ...numbers, ...surfaces];
