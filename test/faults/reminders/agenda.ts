/** Events in virtual time; those of the same time run in the order in which they were added. */
export interface Agenda {
	at(time: number, run: () => void): void;
	/** Moves time to `end` and runs all events before it. */
	runUntil(end: number): void;
	/** Moves time to the next event and runs it. */
	runNext(): void;
	/** The time of the next event; null when there is none. */
	readonly nextAt: number | null;
	readonly now: number;
}

interface Entry {
	readonly time: number;
	readonly order: number;
	readonly run: () => void;
}

export function createAgenda(start = 0): Agenda {
	const heap: Entry[] = [];
	let now = start;
	let order = 0;
	const before = (one: Entry, other: Entry) =>
		one.time < other.time || (one.time === other.time && one.order < other.order);

	function push(entry: Entry): void {
		let index = heap.push(entry) - 1;
		while (index > 0) {
			const parent = (index - 1) >> 1;
			if (!before(entry, heap[parent] as Entry)) break;
			heap[index] = heap[parent] as Entry;
			index = parent;
		}
		heap[index] = entry;
	}

	function pop(): Entry | undefined {
		const first = heap[0];
		const last = heap.pop();
		if (first === undefined || last === undefined || heap.length === 0) return first;
		let index = 0;
		for (;;) {
			let child = 2 * index + 1;
			if (child >= heap.length) break;
			if (child + 1 < heap.length && before(heap[child + 1] as Entry, heap[child] as Entry)) child += 1;
			if (!before(heap[child] as Entry, last)) break;
			heap[index] = heap[child] as Entry;
			index = child;
		}
		heap[index] = last;
		return first;
	}

	function runNext(): void {
		const next = pop();
		if (next === undefined) return;
		now = next.time;
		next.run();
	}

	return {
		at: (time, run) => push({ time: Math.max(time, now), order: order++, run }),
		runUntil(end) {
			for (let next = heap[0]; next !== undefined && next.time < end; next = heap[0]) runNext();
			now = end;
		},
		runNext,
		get nextAt() {
			return heap[0]?.time ?? null;
		},
		get now() {
			return now;
		},
	};
}
