/** A closed outline on a grid of 100 by 100, its origin in the upper left corner. */
export type Outline = readonly Point[];

export interface Point {
	readonly x: number;
	readonly y: number;
	/** False for the control point of a quadratic curve. */
	readonly isOn: boolean;
}

const at = (x: number, y: number, isOn = true): Point => ({ x, y, isOn });

export function oval(x: number, y: number, rx: number, ry: number = rx): Outline {
	const parts = 8;
	const half = Math.PI / parts;
	return Array.from({ length: 2 * parts }, (_, index) => {
		const isOn = index % 2 === 0;
		const far = isOn ? 1 : 1 / Math.cos(half);
		return at(x + Math.cos(index * half) * rx * far, y + Math.sin(index * half) * ry * far, isOn);
	});
}

/** Corners as x, y, x, y, … */
export function corners(...numbers: readonly number[]): Outline {
	return Array.from({ length: numbers.length / 2 }, (_, index) =>
		at(numbers[2 * index] ?? 0, numbers[2 * index + 1] ?? 0),
	);
}

/** A rectangle with round corners. */
export function box(...sides: readonly [x: number, y: number, width: number, height: number, round?: number]): Outline {
	const [x, y, width, height, round = 0] = sides;
	const [right, bottom] = [x + width, y + height];
	return [
		at(x + round, y),
		at(right - round, y),
		at(right, y, false),
		at(right, y + round),
		at(right, bottom - round),
		at(right, bottom, false),
		at(right - round, bottom),
		at(x + round, bottom),
		at(x, bottom, false),
		at(x, bottom - round),
		at(x, y + round),
		at(x, y, false),
	];
}

/** A thick line through points, given as x, y, x, y, …, with round ends and corners. */
export function line(width: number, ...numbers: readonly number[]): Outline[] {
	const points = corners(...numbers);
	return points.flatMap((point, index) => {
		const end = oval(point.x, point.y, width / 2);
		const next = points[index + 1];
		if (next === undefined) return [end];
		const length = Math.hypot(next.x - point.x, next.y - point.y) || 1;
		const dx = ((next.y - point.y) / length) * (width / 2);
		const dy = ((point.x - next.x) / length) * (width / 2);
		const bar = [
			point.x + dx,
			point.y + dy,
			next.x + dx,
			next.y + dy,
			next.x - dx,
			next.y - dy,
			point.x - dx,
			point.y - dy,
		];
		return [end, corners(...bar)];
	});
}

/** A part of a circle's line, in degrees clockwise from the right. */
export function arc(
	width: number,
	...part: readonly [x: number, y: number, radius: number, from: number, to: number]
): Outline[] {
	const [x, y, radius, from, to] = part;
	const count = Math.max(2, Math.ceil(Math.abs(to - from) / 20));
	const numbers = Array.from({ length: count + 1 }, (_, index) => {
		const angle = ((from + ((to - from) * index) / count) * Math.PI) / 180;
		return [x + radius * Math.cos(angle), y + radius * Math.sin(angle)];
	});
	return line(width, ...numbers.flat());
}

/** Twice its area, positive if it runs clockwise on the screen. */
function turn(outline: Outline): number {
	return outline.reduce((sum, { x, y }, index) => {
		const next = outline[(index + 1) % outline.length] ?? { x, y };
		return sum + x * next.y - next.x * y;
	}, 0);
}

/** The same outline clockwise, so that outlines that overlap make no hole. */
export function clockwise(outline: Outline): Outline {
	return turn(outline) < 0 ? outline.toReversed() : outline;
}
