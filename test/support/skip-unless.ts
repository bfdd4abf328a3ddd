declare module 'vitest' {
	interface TaskMeta {
		/** Why it is skipped. */
		skipped?: string;
	}
}

/** Options of a test or of a group: without the condition it is skipped, and the end of the run says why. */
export function skipUnless(condition: boolean, why: string) {
	return condition ? {} : { skip: true, meta: { skipped: why } };
}
